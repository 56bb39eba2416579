//! MAC addresses in any common spelling.

use std::str::FromStr;

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::{cluster::Mac, codes};

/// The text was not a MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a MAC address")]
pub struct NotAMac;

impl FromStr for Mac {
    type Err = NotAMac;

    fn from_str(text: &str) -> Result<Self, NotAMac> {
        // A separator must be one of the three throughout, not any mixture.
        let separator = text.chars().find(|character| matches!(character, ':' | '-' | '.'));
        let groups: Vec<&str> = separator.map_or_else(|| vec![text], |separator| text.split(separator).collect());
        let width = match groups.len() {
            6 => 2,
            3 => 4,
            1 => 12,
            _ => return Err(NotAMac),
        };
        if groups.iter().any(|group| group.len() != width || !group.bytes().all(|b| b.is_ascii_hexdigit())) {
            return Err(NotAMac);
        }
        let digits = u64::from_str_radix(&groups.concat(), 16).map_err(|_| NotAMac)?;
        let [_, _, bytes @ ..] = digits.to_be_bytes();
        Ok(Self(bytes))
    }
}

impl Value for Mac {
    const EXPECTED: &'static str = "a MAC address";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let mac: Self = text.parse().map_err(|NotAMac| is_not(codes::BAD_MAC, text, Self::EXPECTED))?;
        let problem = match mac.0 {
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF] => "the broadcast address",
            [0, 0, 0, 0, 0, 0] => "all zeros",
            [first, ..] if first & 1 == 1 => "a multicast address",
            _ => return Ok(mac),
        };
        Err(Diagnostic::new(codes::BAD_MAC, format!("`{text}` is {problem}, not the address of a network card"))
            .with_hint("copy it from `ip link` on the machine, or from the label on the card"))
    }

    fn schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": concat!(
                "^(([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}|([0-9a-fA-F]{2}-){5}[0-9a-fA-F]{2}",
                "|([0-9a-fA-F]{2}\\.){5}[0-9a-fA-F]{2}|([0-9a-fA-F]{4}[.:-]){2}[0-9a-fA-F]{4}|[0-9a-fA-F]{12})$"
            ),
            "examples": ["52:54:00:00:00:10"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn every_spelling_is_the_same_address() {
        for text in [
            "52:54:00:ab:cd:ef",
            "52:54:00:AB:CD:EF",
            "52-54-00-ab-cd-ef",
            "5254.00ab.cdef",
            "525400abcdef",
            "52.54.00.ab.cd.ef",
        ] {
            assert_eq!(text.parse::<Mac>().map(|mac| mac.to_string()), Ok("52:54:00:ab:cd:ef".into()), "{text}");
        }
    }

    #[test]
    fn what_is_no_card() {
        let rows = [
            "52:54:00:00:00",
            "52:54-00:00:00:10",
            "52:54:00:00:00:1g",
            "+25400abcdef",
            "ff:ff:ff:ff:ff:ff",
            "00:00:00:00:00:00",
            "01:00:5e:00:00:01",
            "",
        ];
        let report: Vec<String> = rows.iter().map(|text| outcome::<Mac>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
