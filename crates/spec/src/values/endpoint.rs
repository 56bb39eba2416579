//! What stands outside the nodes: a load balancer's host and port, and further names of the API server.

use std::net::{IpAddr, SocketAddr};

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, is_not, name::subdomain};
use crate::{
    cluster::{Endpoint, San},
    codes,
    excerpt::quoted_part,
};

const MAX_DNS_NAME: usize = 253;
const API_PORT: u16 = 6443;

impl Value for Endpoint {
    const EXPECTED: &'static str = "host:port";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let complaint = is_not(codes::BAD_ENDPOINT, text, Self::EXPECTED);
        if let Some((_, rest)) = text.split_once("://") {
            let bare = rest.trim_end_matches('/');
            return Err(complaint.with_hint(format!("write only host and port: `{}`", quoted_part(bare))));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Err(complaint.with_hint(format!("add the port: `{}`", SocketAddr::new(address, API_PORT))));
        }
        let Some((host, port)) = text.rsplit_once(':') else {
            return Err(complaint.with_hint(format!("add the port: `{}:{API_PORT}`", quoted_part(text))));
        };
        let port = match port.parse::<u16>() {
            Ok(port) if port > 0 => port,
            _ => return Err(complaint.with_hint("the port is a number from 1 to 65535")),
        };
        let host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(inner) => San::Ip(IpAddr::parse(inner)?),
            None => host_name_or_address(host)?,
        };
        Ok(Self { host, port })
    }

    fn schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^(\[[0-9a-fA-F:]+\]|[a-z0-9]([-a-z0-9.]*[a-z0-9])?):[0-9]{1,5}$",
            "examples": ["k8s.example.org:6443"],
        })
    }
}

impl Value for San {
    const EXPECTED: &'static str = "a DNS name or an IP address";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        match text.strip_prefix("*.") {
            Some(rest) => subdomain(rest, Self::EXPECTED, MAX_DNS_NAME - 2).map(|rest| Self::Dns(format!("*.{rest}"))),
            None => host_name_or_address(text),
        }
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": r"^(\*\.)?[a-z0-9:]([-a-zA-Z0-9.:]*[a-z0-9:])?$" })
    }
}

fn host_name_or_address(text: &str) -> Result<San, Diagnostic> {
    // Digits and dots alone are an address with a mistake, not a name.
    let numeric = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !text.is_empty();
    if numeric || text.contains([':', '/']) {
        return IpAddr::parse(text).map(San::Ip);
    }
    subdomain(text, San::EXPECTED, MAX_DNS_NAME).map(San::Dns)
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn endpoints() {
        let rows = [
            "k8s.example.org:6443",
            "192.168.1.5:6443",
            "[fd00::5]:6443",
            "k8s.example.org",
            "192.168.1.5",
            "fd00::5",
            "https://k8s.example.org:6443/",
            "k8s.example.org:0",
            "k8s.example.org:https",
            "K8s.example.org:6443",
            "192.168.1.500:6443",
            ":6443",
        ];
        let report: Vec<String> = rows.iter().map(|text| outcome::<Endpoint>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn further_names() {
        let rows = ["k8s.example.org", "*.example.org", "fd00::5", "192.168.1.5", "192.168.1.5/24", "k8s_api", "*"];
        let report: Vec<String> = rows.iter().map(|text| outcome::<San>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
