//! From Node objects to what this node must know: its own part of the pod network, and who has the other parts. Pure.
//!
//! Node objects are partly written by the nodes themselves, and a route decides who gets the traffic. So a part counts
//! only if it is inside the pod network and of the right size, a node of cluster.yaml is reached at its address there,
//! and one that is not listed only at an address of the node network that belongs to no other node. Where addresses decide
//! who has which part, what a Node says of it does not count at all.

use std::{collections::BTreeMap, net::IpAddr};

use ipnet::IpNet;
use spec::ValidatedCluster;

use crate::node_object::NodeObject;

/// What this node needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Where its own pods live.
    pub(super) own: IpNet,
    /// Where other nodes' pods live, and the address of the node.
    pub(super) routes: BTreeMap<IpNet, IpAddr>,
}

/// What one Node says of the pod network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Peer {
    pods: IpNet,
    address: IpAddr,
}

/// What counts of a Node; `None` as long as it has no part of the pod network, or says what it may not.
pub(super) fn peer(cluster: &ValidatedCluster, node: &NodeObject) -> Option<Peer> {
    let networking = cluster.networking();
    let ours = |part: &IpNet| {
        networking.pod_cidr.contains(part)
            && part.prefix_len() == networking.pod_prefix_per_node
            && *part == part.trunc()
    };
    let address = match cluster.node(node.name()) {
        Some(listed) => listed.ip,
        None => node.internal_ips().find(|address| {
            networking.node_cidr.contains(address) && cluster.machines().all(|listed| listed.ip != *address)
        })?,
    };
    let output = || node.spec.pod_cidrs.iter().filter_map(|part| part.parse().ok()).find(ours);
    let pods = networking.pod_cidr_of(address).or_else(output)?;
    Some(Peer { pods, address })
}

/// The part of the pod network that a Node has, where it counts.
pub(crate) fn part(cluster: &ValidatedCluster, node: &NodeObject) -> Option<IpNet> {
    peer(cluster, node).map(|peer| peer.pods)
}

/// What this node needs; `None` while its own part is not known, and then nothing is touched.
pub(super) fn wanted(own_name: &str, peers: &BTreeMap<String, Peer>) -> Option<Wanted> {
    let own = peers.get(own_name)?.pods;
    let others = peers.iter().filter(|(name, peer)| *name != own_name && peer.pods != own);
    let mut routes = BTreeMap::new();
    for (_, peer) in others {
        // Two nodes that claim the same part: the first by name has it.
        routes.entry(peer.pods).or_insert(peer.address);
    }
    Some(Wanted { own, routes })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{cluster, cluster_with};

    fn node(name: &str, pods: &[&str], address: &str) -> NodeObject {
        serde_json::from_value(json!({
            "metadata": { "name": name }, "spec": { "podCIDRs": pods },
            "status": { "addresses": [{ "type": "InternalIP", "address": address }] },
        }))
        .unwrap()
    }

    #[test]
    fn a_node_cannot_draw_traffic_it_should_not_get() {
        // Too few parts for every address: what a Node says must be looked at.
        let cluster = cluster_with("  networking: { pod_cidr: 10.244.0.0/20 }");
        for (what, node, expected) in [
            ("listed", node("worker-01", &["10.244.1.0/24"], "10.0.0.21"), Some("10.244.1.0/24 10.0.0.21")),
            (
                "listed, lies about its address",
                node("worker-01", &["10.244.1.0/24"], "10.0.0.11"),
                Some("10.244.1.0/24 10.0.0.21"),
            ),
            ("no part yet", node("worker-01", &[], "10.0.0.21"), None),
            ("everything", node("worker-01", &["0.0.0.0/0"], "10.0.0.21"), None),
            ("the services", node("worker-01", &["10.96.0.0/24"], "10.0.0.21"), None),
            ("more than its part", node("worker-01", &["10.244.0.0/16"], "10.0.0.21"), None),
            ("less than its part", node("worker-01", &["10.244.1.0/25"], "10.0.0.21"), None),
            ("not a network", node("worker-01", &["10.244.1.7/24"], "10.0.0.21"), None),
            ("nonsense", node("worker-01", &["nonsense"], "10.0.0.21"), None),
            (
                "second family",
                node("worker-01", &["fd00::/64", "10.244.1.0/24"], "10.0.0.21"),
                Some("10.244.1.0/24 10.0.0.21"),
            ),
            ("unlisted", node("guest", &["10.244.9.0/24"], "10.0.0.99"), Some("10.244.9.0/24 10.0.0.99")),
            ("unlisted, a master's address", node("guest", &["10.244.9.0/24"], "10.0.0.11"), None),
            ("unlisted, far away", node("guest", &["10.244.9.0/24"], "192.0.2.1"), None),
        ] {
            let seen = peer(&cluster, &node).map(|peer| format!("{} {}", peer.pods, peer.address));
            assert_eq!(seen.as_deref(), expected, "{what}");
        }
    }

    #[test]
    fn where_addresses_decide_a_node_has_no_say() {
        for (node, expected) in [
            (node("worker-01", &["10.244.7.0/24"], "10.0.0.99"), Some("10.244.21.0/24 10.0.0.21")),
            (node("worker-01", &[], "10.0.0.21"), Some("10.244.21.0/24 10.0.0.21")),
            (node("guest", &["10.244.21.0/24"], "10.0.0.99"), Some("10.244.99.0/24 10.0.0.99")),
            (node("guest", &[], "10.0.0.11"), None),
        ] {
            let seen = peer(&cluster(), &node).map(|peer| format!("{} {}", peer.pods, peer.address));
            assert_eq!(seen.as_deref(), expected, "{node:?}");
        }
    }

    /// Its Node goes away with it, and its pods are those of its own machine.
    #[test]
    fn no_route_leads_to_the_bootstrap_node() {
        let cluster = crate::testing::with_bootstrap_node();
        for (node, expected) in [
            (node("bootstrap", &["10.244.9.0/24"], "10.0.0.9"), false),
            (node("guest", &["10.244.9.0/24"], "10.0.0.9"), false),
            (node("guest", &["10.244.8.0/24"], "10.0.0.8"), true),
        ] {
            assert_eq!(peer(&cluster, &node).is_some(), expected, "{node:?}");
        }
    }

    #[test]
    fn without_the_own_part_nothing_is_wanted() {
        let peer = |pods: &str, address: &str| Peer { pods: pods.parse().unwrap(), address: address.parse().unwrap() };
        let mut peers = BTreeMap::from([("b".to_owned(), peer("10.244.1.0/24", "10.0.0.2"))]);
        assert_eq!(wanted("a", &peers), None);

        peers.insert("a".to_owned(), peer("10.244.0.0/24", "10.0.0.1"));
        peers.insert("thief".to_owned(), peer("10.244.0.0/24", "10.0.0.3"));
        peers.insert("thief-too".to_owned(), peer("10.244.1.0/24", "10.0.0.4"));
        let routes = BTreeMap::from([("10.244.1.0/24".parse().unwrap(), "10.0.0.2".parse().unwrap())]);
        assert_eq!(wanted("a", &peers), Some(Wanted { own: "10.244.0.0/24".parse().unwrap(), routes }));
    }
}
