//! Networks in CIDR notation.

use std::net::IpAddr;

use explain::Diagnostic;
use ipnet::IpNet;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::codes;

impl Value for IpNet {
    const EXPECTED: &'static str = "a network";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let complaint = is_not(codes::BAD_NETWORK, text, Self::EXPECTED);
        match text.parse::<IpNet>() {
            Ok(network) if network.addr() == network.network() => Ok(network),
            Ok(network) => Err(complaint
                .with_hint(format!("this is an address inside a network: did you mean `{}`?", network.trunc()))),
            Err(_) if text.parse::<IpAddr>().is_ok() => {
                Err(complaint.with_hint(format!("add the length of the prefix, such as `{text}/24`")))
            }
            Err(_) => Err(complaint),
        }
    }

    fn schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9a-fA-F.:]+/[0-9]{1,3}$",
            "examples": ["10.244.0.0/16"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn networks() {
        let rows = ["10.244.0.0/16", "fd00:10:244::/56", "10.244.1.5/16", "10.244.0.0", "10.244.0.0/33", "any"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<IpNet>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
