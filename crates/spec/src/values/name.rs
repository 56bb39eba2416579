//! Names of the cluster, of nodes and of the DNS domain: DNS-1123 labels and subdomains.

use std::net::IpAddr;

use explain::Diagnostic;
use schemars::{Schema, json_schema};

use super::{Value, is_not};
use crate::{codes, excerpt::quoted_part};

/// Longest label of DNS, longest host name of common tools, and longest value of a Kubernetes label.
const MAX_LABEL: usize = 63;
const MAX_SUBDOMAIN: usize = 253;

/// Names that mean something else on every machine or in every cluster.
const RESERVED: &[&str] = &["localhost", "kubernetes"];

/// The cluster's name, a DNS label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClusterName(pub(crate) String);

/// A node's name or host name: labels with dots, 63 characters at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeName(pub(crate) String);

/// A DNS domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Domain(pub(crate) String);

impl Value for ClusterName {
    const EXPECTED: &'static str = "a cluster name";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        label(text, Self::EXPECTED).map(Self)
    }

    fn schema() -> Schema {
        label_schema("home")
    }
}

impl Value for NodeName {
    const EXPECTED: &'static str = "a node name";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        let name = subdomain(text, Self::EXPECTED, MAX_LABEL)?;
        if RESERVED.contains(&name.as_str()) {
            let message = format!("`{name}` is reserved and cannot name a node");
            return Err(Diagnostic::new(codes::RESERVED_NAME, message).with_hint("choose a name such as `worker-01`"));
        }
        if name.parse::<IpAddr>().is_ok() {
            let hint = "choose a name such as `worker-01`; the address belongs in `ip`";
            return Err(is_not(codes::BAD_NAME, text, "a name but an address").with_hint(hint));
        }
        Ok(Self(name))
    }

    fn schema() -> Schema {
        json_schema!({
            "type": "string",
            "pattern": SUBDOMAIN_PATTERN,
            "maxLength": MAX_LABEL,
            "examples": ["worker-01"],
        })
    }
}

impl Value for Domain {
    const EXPECTED: &'static str = "a DNS domain";

    fn parse(text: &str) -> Result<Self, Diagnostic> {
        if let Some(name) = text.strip_suffix('.') {
            return Err(is_not(codes::BAD_NAME, text, Self::EXPECTED).with_hint(format!("write `{name}`")));
        }
        subdomain(text, Self::EXPECTED, MAX_SUBDOMAIN).map(Self)
    }

    fn schema() -> Schema {
        json_schema!({ "type": "string", "pattern": SUBDOMAIN_PATTERN, "maxLength": MAX_SUBDOMAIN })
    }
}

const SUBDOMAIN_PATTERN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// The text if it is a DNS-1123 subdomain of at most `max` characters.
pub(super) fn label(text: &str, what: &str) -> Result<String, Diagnostic> {
    if text.contains('.') {
        return Err(is_not(codes::BAD_NAME, text, what).with_hint("use `-` instead of `.`"));
    }
    subdomain(text, what, MAX_LABEL)
}

pub(super) fn label_schema(example: &str) -> Schema {
    json_schema!({
        "type": "string",
        "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "maxLength": MAX_LABEL,
        "examples": [example],
    })
}

pub(super) fn subdomain(text: &str, what: &str, max: usize) -> Result<String, Diagnostic> {
    if text.is_empty() {
        return Err(Diagnostic::new(codes::BAD_NAME, "this name is empty"));
    }
    if text.len() > max {
        let message = format!("`{}` is too long for {what}", quoted_part(text));
        return Err(Diagnostic::new(codes::BAD_NAME, message)
            .with_hint(format!("it has {} characters; {max} are possible", text.chars().count())));
    }
    if text.split('.').all(is_label) {
        return Ok(text.to_owned());
    }
    let complaint = is_not(codes::BAD_NAME, text, what);
    let corrected = corrected(text);
    Err(if corrected.split('.').all(is_label) {
        complaint.with_hint(format!("did you mean `{corrected}`? {}", codes::BAD_NAME.fix))
    } else {
        complaint
    })
}

fn is_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_LABEL).contains(&label.len())
        && label.bytes().all(inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// What the user may have meant: lower case, `-` for what is often used in its place.
fn corrected(text: &str) -> String {
    text.trim().to_lowercase().replace(['_', ' '], "-").trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{super::outcome, *};

    #[test]
    fn node_names() {
        let long = "a".repeat(64);
        let rows = [
            "master-01",
            "01",
            "node.example.org",
            "Master_01",
            "-master",
            "a..b",
            "ma$ter",
            "",
            &long,
            "localhost",
            "10.0.0.1",
        ];
        let report: Vec<String> = rows.iter().map(|text| outcome::<NodeName>(text)).collect();
        insta::assert_snapshot!(report.join("\n"));
    }

    #[test]
    fn cluster_names_have_no_dots_and_domains_may() {
        assert_eq!(ClusterName::parse("home"), Ok(ClusterName("home".into())));
        assert_eq!(ClusterName::parse("home.lan").unwrap_err().hint, "use `-` instead of `.`");
        assert_eq!(Domain::parse("cluster.local"), Ok(Domain("cluster.local".into())));
        assert_eq!(Domain::parse("cluster.local.").unwrap_err().hint, "write `cluster.local`");
    }
}
