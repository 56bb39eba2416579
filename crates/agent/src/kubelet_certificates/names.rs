//! What a node that is not in cluster.yaml may be called.
//!
//! The CA that signs serving certificates is the cluster's own, so one with the API server's names could pose as the
//! API server. Such a node may have its own Node's name and the addresses of its Node's status, and nothing that is, or
//! could become, anybody else's. What it asks for is in canonical form already (lower case, no wildcard, no IPv4 address
//! dressed as IPv6); it is checked again here, because this is where it matters.

use std::{collections::BTreeSet, net::IpAddr};

use ipnet::IpNet;
use pki::{Input, Shared, table::Names};
use spec::{San, ValidatedCluster};

use super::{
    known::Known,
    read::{Ask, Denial},
};
use crate::{codes, node_object::NodeObject};

/// Only what its Node says, and nothing that is another node's.
pub(super) fn check_unlisted(ask: &Ask, cluster: &ValidatedCluster, known: &Known) -> Result<(), Denial> {
    let Some(node) = &known.node else {
        return Err(Denial::new(codes::NO_NODE, format!("there is no Node `{}`", ask.node)));
    };
    let taken = taken(cluster);
    let flaw = |name: &San| match name {
        San::Dns(name) => flaw_of_name(name, &ask.node, cluster, &taken),
        San::Ip(ip) => flaw_of_address(*ip, node, cluster, &taken, &known.of_others),
    };
    let flaws: Vec<String> = ask
        .request
        .names
        .iter()
        .filter_map(|name| flaw(name).map(|why| format!("`{}` {why}", show(&BTreeSet::from([name.clone()])))))
        .collect();
    if flaws.is_empty() { Ok(()) } else { Err(Denial::new(codes::NAMES, flaws.join(", "))) }
}

/// As the API server wants names of Nodes. Upper case would be another name for another node.
pub(super) fn is_of_a_node(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(is_inner) && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

pub(super) fn show(names: &BTreeSet<San>) -> String {
    let text = |san: &San| match san {
        San::Dns(name) => name.clone(),
        San::Ip(ip) => ip.to_string(),
    };
    names.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn flaw_of_name(name: &str, own: &str, cluster: &ValidatedCluster, taken: &BTreeSet<San>) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let is_below = |domain: &str| lower == domain || lower.ends_with(&format!(".{domain}"));
    if !is_of_a_node(name) {
        Some("is no name of a machine in lower case")
    } else if taken.contains(&San::Dns(lower.clone())) {
        Some("is not the node's own")
    } else if is_below("svc") || is_below(&cluster.networking().domain.to_ascii_lowercase()) {
        Some("is a name of services")
    } else if is_below("localhost") {
        Some("is every machine's name for itself")
    } else if name != own {
        Some("is not the Node's name")
    } else {
        None
    }
}

fn flaw_of_address(
    ip: IpAddr,
    node: &NodeObject,
    cluster: &ValidatedCluster,
    taken: &BTreeSet<San>,
    of_others: &BTreeSet<IpAddr>,
) -> Option<&'static str> {
    let networking = cluster.networking();
    let is_in = |network: &IpNet| network.contains(&ip);
    let is_reported = || node.status.addresses.iter().any(|output| output.address.parse() == Ok(ip));
    if ip.to_canonical() != ip {
        Some("is an IPv4 address written as IPv6")
    } else if is_special(ip) {
        Some("is no machine's own address")
    } else if is_in(&networking.pod_cidr) || is_in(&networking.service_cidr) {
        Some("is an address of pods or services")
    } else if taken.contains(&San::Ip(ip)) || of_others.contains(&ip) {
        Some("is not the node's own")
    } else if !is_reported() {
        Some("is not in the Node's status")
    } else {
        None
    }
}

fn is_special(ip: IpAddr) -> bool {
    let by_family = match ip {
        IpAddr::V4(ip) => ip.is_link_local() || ip.is_broadcast(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    by_family || ip.is_loopback() || ip.is_unspecified() || ip.is_multicast()
}

/// Every name and address of the API servers and of the machines in cluster.yaml, names in lower case.
fn taken(cluster: &ValidatedCluster) -> BTreeSet<San> {
    let nodes = cluster
        .machines()
        .flat_map(|node| [San::Dns(node.name.clone()), San::Dns(node.hostname.clone()), San::Ip(node.ip)]);
    let masters =
        cluster.control_plane().flat_map(|master| Input::new(cluster, master, Shared::Bring).names(Names::ApiServer));
    let in_lower_case = |san: San| match san {
        San::Dns(name) => San::Dns(name.to_ascii_lowercase()),
        San::Ip(ip) => San::Ip(ip.to_canonical()),
    };
    nodes.chain(masters).map(in_lower_case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cluster;

    /// What never gets as far as this today.
    #[test]
    fn what_is_not_canonical_is_refused_here_too() {
        let (cluster, node) = (cluster(), NodeObject::default());
        let taken = taken(&cluster);
        for (name, expected) in [
            ("Guest", Some("is no name of a machine in lower case")),
            ("*", Some("is no name of a machine in lower case")),
            ("guest.", Some("is no name of a machine in lower case")),
            ("guest", None),
        ] {
            assert_eq!(flaw_of_name(name, "guest", &cluster, &taken), expected, "{name}");
        }
        let mapped = "::ffff:10.0.0.99".parse().unwrap();
        let flaw = flaw_of_address(mapped, &node, &cluster, &taken, &BTreeSet::new());
        assert_eq!(flaw, Some("is an IPv4 address written as IPv6"));
    }
}
