//! The network of the nodes: its prefix, its gateway, and the addresses in it.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::{
    codes,
    draft::{Draft, Networks},
    problems::{Finding, Problems},
};

pub(super) fn given_once(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(section) = &draft.cluster.networking else { return };
    if let (Some(network), Some(prefix)) = (&section.node_cidr, &section.prefix) {
        let message = "`prefix` and `node_cidr` say the same thing";
        problems.push(
            Finding::error(codes::NODE_NETWORK_TWICE, prefix.location, message)
                .also(network.location, "given here too"),
        );
    }
}

pub(super) fn prefix_fits_the_family(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let prefix = draft.cluster.networking.as_ref().and_then(|section| section.prefix.as_ref());
    let first = draft.nodes.iter().find_map(|node| node.listed.ip.as_ref());
    if let (Some(prefix), Some(first)) = (prefix, first)
        && first.is_ipv4()
        && prefix.0 > 32
    {
        let message = format!("a prefix of {} is too long for IPv4", prefix.0);
        let finding = Finding::error(codes::OUT_OF_RANGE, prefix.location, message)
            .also(first.location, "the first node's address");
        problems.push(finding.hint("use a number from 1 to 32".to_owned()));
    }
}

pub(super) fn gateway_is_a_host(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Networks { node: Some(node), gateway: Some(gateway), .. } = &draft.networks else { return };
    let Some(location) = gateway.origin.given() else { return };
    let address = gateway.value;
    let problem = match reserved(node.value, address) {
        Some(what) => format!("the gateway `{address}` is {what} of the node network {}", node.value),
        None if !node.value.contains(&address) => {
            format!("the gateway `{address}` is outside the node network {}{}", node.value, node.origin.note())
        }
        None => return,
    };
    problems.push(Finding::error(codes::BAD_GATEWAY, location, problem));
}

pub(super) fn addresses_are_hosts(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Networks { node: network, gateway, .. } = &draft.networks;
    for node in &draft.nodes {
        let Some(ip) = &node.listed.ip else { continue };
        if let Some(what) = unusable(ip.value) {
            let message = format!("`{}` is {what}, which no node can have", ip.value);
            problems.push(Finding::error(codes::UNUSABLE_ADDRESS, ip.location, message));
            continue;
        }
        let Some(network) = network else { continue };
        // A mixture of families has a check of its own.
        if network.value.addr().is_ipv4() != ip.is_ipv4() {
            continue;
        }
        if !network.value.contains(&ip.value) {
            let message =
                format!("`{}` is outside the node network {}{}", ip.value, network.value, network.origin.note());
            let mut finding = Finding::error(codes::OUTSIDE_NETWORK, ip.location, message);
            if let Some(given) = network.origin.given() {
                finding = finding.also(given, "the node network");
            }
            problems.push(finding);
        } else if let Some(what) = reserved(network.value, ip.value) {
            let message = format!("`{}` is {what} of the node network {}", ip.value, network.value);
            problems.push(Finding::error(codes::UNUSABLE_ADDRESS, ip.location, message));
        } else if let Some(gateway) = gateway.as_ref().filter(|gateway| gateway.value == ip.value) {
            let message = format!("`{}` is the address of the gateway{}", ip.value, gateway.origin.note());
            let finding = Finding::error(codes::UNUSABLE_ADDRESS, ip.location, message);
            problems.push(match gateway.origin.given() {
                Some(given) => finding.also(given, "the gateway"),
                None => finding.hint("choose another address, or set `cluster.networking.gateway`".to_owned()),
            });
        }
    }
}

/// What is wrong with an address in any network.
fn unusable(address: IpAddr) -> Option<&'static str> {
    let link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    match address {
        _ if address.is_unspecified() => Some("the unspecified address"),
        _ if address.is_loopback() => Some("a loopback address"),
        _ if address.is_multicast() => Some("a multicast address"),
        _ if link_local => Some("a link-local address"),
        _ => None,
    }
}

/// What an address means in its network, if it is not a host's.
fn reserved(network: IpNet, address: IpAddr) -> Option<&'static str> {
    // Networks of one or two addresses have neither.
    let room = network.max_prefix_len() - network.prefix_len() >= 2;
    match network {
        _ if !room => None,
        _ if address == network.network() => Some("the network address"),
        IpNet::V4(_) if address == network.broadcast() => Some("the broadcast address"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::codes_of;

    fn node(name: &str, ip: &str) -> String {
        format!("  - {{name: {name}, ip: '{ip}', roles: [master]}}\n")
    }

    #[test]
    fn addresses() {
        let network = "  networking: {node_cidr: 192.168.1.0/24}\n";
        for (settings, ip, expected) in [
            (network, "192.168.1.10", vec![]),
            (network, "192.168.2.10", vec!["BS-SPEC-038"]),
            (network, "192.168.1.0", vec!["BS-SPEC-039"]),
            (network, "192.168.1.255", vec!["BS-SPEC-039"]),
            (network, "192.168.1.1", vec!["BS-SPEC-039"]),
            ("", "127.0.0.1", vec!["BS-SPEC-039"]),
            ("", "0.0.0.0", vec!["BS-SPEC-039"]),
            ("", "224.0.0.1", vec!["BS-SPEC-039"]),
            ("", "169.254.1.1", vec!["BS-SPEC-039"]),
            ("", "fe80::10", vec!["BS-SPEC-039"]),
            ("", "fd00:1::10", vec![]),
            ("", "fd00:1::1", vec!["BS-SPEC-039"]),
            ("  networking: {node_cidr: 192.168.1.0/24, gateway: none}\n", "192.168.1.1", vec![]),
            ("  networking: {node_cidr: 192.168.1.10/31}\n", "192.168.1.10", vec![]),
        ] {
            assert_eq!(codes_of(settings, &node("m", ip)), expected, "{settings}{ip}");
        }
    }

    #[test]
    fn a_network_with_mistakes_is_not_replaced_by_a_default() {
        let nodes = node("a", "192.168.1.10") + &node("b", "192.168.2.10") + &node("c", "192.168.3.10");
        assert_eq!(codes_of("  networking: {node_cidr: 192.168.0.0}\n", &nodes), ["BS-SPEC-020"]);
        assert_eq!(codes_of("  networking: {node-cidr: 192.168.0.0/16}\n", &nodes), ["BS-SPEC-012"]);
        assert_eq!(codes_of("  networking: {prefix: 16}\n", &nodes), Vec::<&str>::new());
    }

    #[test]
    fn a_mistake_hides_no_other_one() {
        let nodes = node("a", "192.168.1.10");
        for (settings, expected) in [
            ("mtu: 9000, node_cidr: 192.168.2.0/24", vec!["BS-SPEC-012", "BS-SPEC-038"]),
            ("mtu: 9000, node_cidr: 192.168.1.0/24, gateway: 10.0.0.1", vec!["BS-SPEC-012", "BS-SPEC-040"]),
            ("mtu: 9000, pod_cidr: 10.0.0.0/16, service_cidr: 10.0.0.0/20", vec!["BS-SPEC-012", "BS-SPEC-041"]),
            ("mtu: 9000, node_cidr: 192.168.1.0/24, pod_cidr: 'fd00::/56'", vec!["BS-SPEC-012", "BS-SPEC-042"]),
            ("mtu: 9000, service_cidr: 10.96.0.0/29", vec!["BS-SPEC-012", "BS-SPEC-043"]),
            ("mtu: 9000, pod_cidr: 10.0.0.0/25, pod_prefix_per_node: 24", vec!["BS-SPEC-012", "BS-SPEC-044"]),
            ("mtu: 9000, add_on: none, manifest: a.yaml", vec!["BS-SPEC-012", "BS-SPEC-047"]),
            ("dns: 1.1.1.1, service_cidr: 10.96.0.0/29", vec!["BS-SPEC-015", "BS-SPEC-043"]),
            // What it would be without the mistake is not known.
            ("mtu: 9000, pod_cidr: 192.168.0.0/16", vec!["BS-SPEC-012"]),
            ("mtu: 9000, add_on: manifest", vec!["BS-SPEC-012"]),
        ] {
            let settings = format!("  networking: {{{settings}}}\n");
            assert_eq!(codes_of(&settings, &nodes), expected, "{settings}");
        }
    }

    #[test]
    fn gateways_and_prefixes() {
        for (settings, expected) in [
            ("gateway: 192.168.1.254", vec![]),
            ("gateway: 192.168.2.1", vec!["BS-SPEC-040"]),
            ("gateway: 192.168.1.255", vec!["BS-SPEC-040"]),
            ("gateway: 192.168.1.0", vec!["BS-SPEC-040"]),
            ("gateway: 'fd00::1'", vec!["BS-SPEC-040"]),
            ("prefix: 64", vec!["BS-SPEC-016"]),
            ("prefix: 24, node_cidr: 192.168.1.0/24", vec!["BS-SPEC-048"]),
        ] {
            let settings = format!("  networking: {{{settings}}}\n");
            assert_eq!(codes_of(&settings, &node("m", "192.168.1.10")), expected, "{settings}");
        }
    }
}
