//! Rules of the packet filter that keep the node's own connections away: from other nodes, to them, and on the machine.
//!
//! ```text
//! connections of this role ─► the first packet of each ─► through the rules of the kernel ─► where it is dropped
//! ```
//! Rules of iptables are among them: its programs write into the same tables.

mod packet;
mod ruleset;

use std::{collections::BTreeMap, net::IpAddr};

use spec::{Node, Role, ValidatedCluster, ports};

use self::{
    packet::Packet,
    ruleset::{DropPoint, Ruleset},
};
use super::address::addresses;
use crate::{Check, Checking, Context, Finding, Part, codes::FIREWALL};

/// See [`super`].
pub(crate) const CHECK: Check =
    Check::new("firewall", "firewall rules that block the node's own connections", &[FIREWALL], check);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let rules = Ruleset::parse(&context.output("nft", ["-j", "list", "ruleset"]).await?)?;
        let there = addresses(&context.output("ip", ["-json", "address", "show"]).await?)?;
        let outside = there.iter().find(|(_, address)| *address == context.node.ip).map(|(name, _)| name.as_str());
        let dropped = dropped(&rules, &connections(&context.cluster, &context.node), outside);
        let mut found = Vec::new();
        for (point, whose) in dropped {
            let DropPoint { family, table, chain, .. } = &point;
            let shown = context.output("nft", ["-a", "list", "chain", family, table, chain]).await.unwrap_or_default();
            found.push(evaluate(&point, &whose, &shown));
        }
        Ok(found)
    })
}

/// A connection that the node cannot do without.
struct Connection {
    from: IpAddr,
    to: IpAddr,
    port: u16,
    /// In words for a person.
    what: String,
    way: Way,
}

/// Which way it goes, seen from this machine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
    /// From the machine to itself.
    Within,
}

/// What a node of this role connects to, and what others connect to on it.
fn connections(cluster: &ValidatedCluster, node: &Node) -> Vec<Connection> {
    let mut all = Vec::new();
    let mut connect = |from: IpAddr, to: IpAddr, port: u16, what: String| {
        let way = match (from == node.ip || from.is_loopback(), to == node.ip || to.is_loopback()) {
            (true, true) => Way::Within,
            (true, false) => Way::Out,
            (false, _) => Way::In,
        };
        all.push(Connection { from, to, port, what, way });
    };
    let loopback: IpAddr = if node.ip.is_ipv4() { [127, 0, 0, 1].into() } else { [0, 0, 0, 0, 0, 0, 0, 1u16].into() };
    let is_master = node.runs_control_plane();
    connect(loopback, loopback, ports::API_BALANCER, "of this node to its API load balancer".into());
    if is_master {
        connect(loopback, loopback, ports::ETCD_CLIENT, "of the API server to etcd".into());
        connect(node.ip, node.ip, cluster.api().port, "of this node to its API server".into());
        connect(node.ip, node.ip, ports::KUBELET, "of the API server to the kubelet".into());
    }
    for other in cluster.nodes().iter().filter(|other| other.name != node.name) {
        let (name, other_is_master) = (&other.name, other.roles.contains(&Role::Master));
        if is_master {
            connect(other.ip, node.ip, cluster.api().port, format!("from {name} to the API server"));
            connect(other.ip, node.ip, ports::JOIN, format!("from {name} to the join service"));
            connect(node.ip, other.ip, ports::KUBELET, format!("to the kubelet of {name}"));
        }
        if other_is_master {
            connect(node.ip, other.ip, cluster.api().port, format!("to the API server of {name}"));
            connect(node.ip, other.ip, ports::JOIN, format!("to the join service of {name}"));
            connect(other.ip, node.ip, ports::KUBELET, format!("from {name} to the kubelet"));
        }
        if is_master && other_is_master {
            connect(other.ip, node.ip, ports::ETCD_PEER, format!("from {name} to etcd"));
            connect(node.ip, other.ip, ports::ETCD_PEER, format!("to etcd of {name}"));
        }
    }
    all
}

/// What is dropped where: port and words of each connection.
fn dropped(
    rules: &Ruleset,
    connections: &[Connection],
    outside: Option<&str>,
) -> BTreeMap<DropPoint, Vec<(u16, String)>> {
    let mut all: BTreeMap<DropPoint, Vec<(u16, String)>> = BTreeMap::new();
    for Connection { from, to, port, what, way } in connections {
        let packet = |comes_by, goes_by| Packet { from: *from, to: *to, port: *port, comes_by, goes_by };
        let going = |by| rules.drops(&["output", "postrouting"], &packet(None, by));
        let coming = |by| rules.drops(&["prerouting", "input"], &packet(by, None));
        let point = match way {
            Way::In => coming(outside),
            Way::Out => going(outside),
            Way::Within => going(Some("lo")).or_else(|| coming(Some("lo"))),
        };
        if let Some(point) = point {
            all.entry(point).or_default().push((*port, what.clone()));
        }
    }
    all
}

fn evaluate(point: &DropPoint, connections: &[(u16, String)], shown: &str) -> Finding {
    let whose: Vec<String> = connections.iter().map(|(port, what)| format!("{what} (port {port})")).collect();
    let mut ports: Vec<String> = connections.iter().map(|(port, _)| port.to_string()).collect();
    ports.dedup();
    let DropPoint { family, table, chain, rule } = point;
    let (seen, fix) = match rule {
        Some(handle) => (
            format!("{point} has the rule `{}`, which drops", text_of(shown, *handle).unwrap_or("…")),
            format!("`nft delete rule {family} {table} {chain} handle {handle}`, and whatever writes it"),
        ),
        None => (
            format!("{point} drops what it has no rule for, and has none for"),
            format!("`nft insert rule {family} {table} {chain} tcp dport {{ {} }} accept`", ports.join(", ")),
        ),
    };
    Finding::cause(FIREWALL, Part::Network, format!("{seen} connections {}", whose.join(", "))).with_fix(fix)
}

/// The line with this handle, without it.
fn text_of(shown: &str, handle: u64) -> Option<&str> {
    let lines = shown.lines().filter_map(|line| line.rsplit_once(" # handle "));
    lines.into_iter().find(|(_, number)| number.trim() == handle.to_string()).map(|(text, _)| text.trim())
}

#[cfg(test)]
mod tests;
