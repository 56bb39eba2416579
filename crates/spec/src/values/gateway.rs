//! The nodes' gateway: an address, or `none`.

use std::net::IpAddr;

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::Value;

const NONE: &str = "none";

/// The nodes' default gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gateway {
    /// An isolated network.
    None,
    /// A router.
    Address(IpAddr),
}

impl Value for Gateway {
    const EXPECTED: &'static str = "an IP address or `none`";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        if text == NONE {
            return Ok(Self::None);
        }
        IpAddr::parse(text).map(Self::Address).map_err(|error| {
            let is_general = error.hint == error.code.fix;
            if is_general {
                error.with_hint("write an address, or `none` for a network without a gateway")
            } else {
                error
            }
        })
    }

    fn schema() -> Schema {
        json_schema!({
            "type": "string",
            "anyOf": [{ "const": NONE }, { "format": "ipv4" }, { "format": "ipv6" }],
            "examples": ["192.168.1.1", NONE],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn gateways() {
        let rows = ["192.168.1.1", "none", "no", "192.168.1.1/24"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<Gateway>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
