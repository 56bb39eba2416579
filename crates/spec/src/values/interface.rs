//! Which network interface carries the node's address.

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::{cluster::InterfaceChoice, codes};

const BY_MAC: &str = "by-mac";
/// The kernel's limit, without the terminating zero.
const MAX_NAME: usize = 15;

impl Value for InterfaceChoice {
    const EXPECTED: &'static str = "the name of an interface";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        if text == BY_MAC {
            return Ok(Self::ByMac);
        }
        let complaint = is_not(codes::BAD_INTERFACE, text, Self::EXPECTED);
        if matches!(text, "by_mac" | "bymac" | "mac") {
            return Err(complaint.with_hint(format!("did you mean `{BY_MAC}`?")));
        }
        if text == "lo" {
            return Err(complaint.with_hint("the loopback interface reaches no other machine"));
        }
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'@');
        let fits = (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(allowed) && !matches!(text, "." | "..");
        if fits { Ok(Self::Named(text.to_owned())) } else { Err(complaint) }
    }

    fn schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[-A-Za-z0-9_.@]+$",
            "maxLength": MAX_NAME,
            "examples": [BY_MAC, "eth0"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn interfaces() {
        let rows = ["by-mac", "eth0", "enp3s0f0.100", "by_mac", "lo", "an-interface-too-long", "eth 0", "..", ""];
        let report: Vec<String> = rows.iter().map(|text| outcome::<InterfaceChoice>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
