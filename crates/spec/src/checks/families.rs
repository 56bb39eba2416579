//! IPv4 and IPv6 are not mixed.

use std::net::IpAddr;

use crate::{
    codes,
    draft::Draft,
    location::Location,
    problems::{Finding, Problems},
};

pub(super) fn are_not_mixed(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let networks = &draft.networks;
    let Some(node_network) = &networks.node else { return };
    let family = node_network.value.addr();
    let mut compare = |what: String, address: IpAddr, location: Location| {
        if address.is_ipv4() != family.is_ipv4() {
            let message =
                format!("{what} is {}, but the node network {} is {}", name(address), node_network.value, name(family));
            problems.push(Finding::error(codes::MIXED_FAMILIES, location, message));
        }
    };
    for (what, network) in [("pod", &networks.pod), ("service", &networks.service)] {
        let Some(network) = network else { continue };
        compare(
            format!("the {what} network {}{}", network.value, network.origin.note()),
            network.value.addr(),
            draft.location_of(network.origin),
        );
    }
    if let Some(ceph) = &draft.cluster.ceph {
        for (what, network) in [("public", &ceph.public_network), ("cluster", &ceph.cluster_network)] {
            if let Some(network) = network {
                compare(format!("Ceph's {what} network {}", network.value), network.addr(), network.location);
            }
        }
    }
    for node in &draft.nodes {
        if let Some(ip) = &node.listed.ip {
            compare(format!("the address `{}` of `{}`", ip.value, node.shown()), ip.value, ip.location);
        }
    }
}

fn name(address: IpAddr) -> &'static str {
    if address.is_ipv4() { "IPv4" } else { "IPv6" }
}

#[cfg(test)]
mod tests {
    use super::super::codes_of;

    #[test]
    fn families() {
        let v4 = "  - {name: m, ip: 192.168.1.10, roles: [master]}\n";
        let v6 = "  - {name: n, ip: 'fd00:1::10', roles: [worker]}\n";
        let v6_master = "  - {name: m, ip: 'fd00:1::10', roles: [master]}\n";
        for (settings, nodes, expected) in [
            ("", v6_master.to_owned(), vec![]),
            ("", format!("{v4}{v6}"), vec!["BS-SPEC-042"]),
            ("  networking: {pod_cidr: 'fd00:2::/56', pod_prefix_per_node: 64}\n", v4.to_owned(), vec!["BS-SPEC-042"]),
            ("  networking: {service_cidr: 10.96.0.0/12}\n", v6_master.to_owned(), vec!["BS-SPEC-042"]),
        ] {
            assert_eq!(codes_of(settings, &nodes), expected, "{settings}{nodes}");
        }
    }
}
