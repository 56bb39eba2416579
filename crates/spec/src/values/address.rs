//! IP addresses.

use std::net::{IpAddr, Ipv4Addr};

use explain::Diagnostic;
use ipnet::IpNet;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::codes;

impl Value for IpAddr {
    const EXPECTED: &'static str = "an IP address";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let complaint = is_not(codes::BAD_ADDRESS, text, Self::EXPECTED);
        match text.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => match address.to_ipv4_mapped() {
                Some(inner) => Err(is_not(codes::BAD_ADDRESS, text, "an address of one family")
                    .with_hint(format!("this is an IPv4 address written as IPv6: write `{inner}`"))),
                None => Ok(address.into()),
            },
            Ok(address) => Ok(address),
            Err(_) => Err(match correction(text) {
                Some(hint) => complaint.with_hint(hint),
                None => complaint,
            }),
        }
    }

    fn schema() -> Schema {
        json_schema!({
            "type": "string",
            "anyOf": [{ "format": "ipv4" }, { "format": "ipv6" }],
            "examples": ["192.168.1.10"],
        })
    }
}

fn correction(text: &str) -> Option<String> {
    let text = text.trim();
    if let Ok(network) = text.parse::<IpNet>() {
        let prefix = network.prefix_len();
        return Some(format!(
            "write `{}` without the prefix; `/{prefix}` belongs in `cluster.networking.node_cidr`",
            network.addr()
        ));
    }
    if let Some(address) = without_leading_zeros(text) {
        return Some(format!("write `{address}`: leading zeros are read as octal by some programs"));
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse::<IpAddr>().ok().map(|address| format!("write `{address}`"))
}

fn without_leading_zeros(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        if part.len() > 3 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *octet = part.parse().ok()?;
    }
    parts.next().is_none().then(|| octets.into())
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn addresses() {
        let rows = [
            "192.168.1.10",
            "fd00::10",
            "192.168.1.10/24",
            "192.168.001.010",
            "::ffff:192.168.1.10",
            "[fd00::10]",
            "192.168.1.256",
            "192.168.1",
            "master-01",
            "",
        ];
        let report: Vec<String> = rows.iter().map(|text| outcome::<IpAddr>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
