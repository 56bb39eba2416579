//! Networks that must share no address.

use ipnet::IpNet;

use crate::{
    codes,
    draft::{Draft, Origin, Setting},
    location::Spanned,
    problems::{Finding, Problems},
};

/// Ceph's networks are ordinary networks of the nodes: they may be the node network or lie inside it.
pub(super) fn networks_are_apart(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let networks = &draft.networks;
    let ceph = |network: Option<&Spanned<IpNet>>| {
        network.map(|network| Setting { value: network.value, origin: Origin::Given(network.location) })
    };
    let section = draft.cluster.ceph.as_ref();
    let own = [("pod network", networks.pod), ("service network", networks.service)];
    let outside = [
        ("node network", networks.node),
        ("public network of Ceph", ceph(section.and_then(|section| section.public_network.as_ref()))),
        ("cluster network of Ceph", ceph(section.and_then(|section| section.cluster_network.as_ref()))),
    ];
    let [pod, service] = own;
    compare(draft, problems, pod, service);
    for network in outside {
        for cluster_network in own {
            compare(draft, problems, network, cluster_network);
        }
    }
}

type Named = (&'static str, Option<Setting<IpNet>>);

fn compare(draft: &Draft<'_>, problems: &mut Problems<'_>, a: Named, b: Named) {
    let ((a_name, Some(a)), (b_name, Some(b))) = (a, b) else { return };
    let overlap = a.value.contains(&b.value) || b.value.contains(&a.value);
    if !overlap {
        return;
    }
    let message =
        format!("the {a_name} {}{} and the {b_name} {}{} overlap", a.value, a.origin.note(), b.value, b.origin.note());
    // Point at what the user wrote, and at both if both are written.
    problems.push(match (a.origin.given(), b.origin.given()) {
        (Some(a), Some(b)) => Finding::error(codes::OVERLAP, b, message).also(a, format!("the {a_name}")),
        (None, Some(b)) => Finding::error(codes::OVERLAP, b, message),
        (_, None) => Finding::error(codes::OVERLAP, draft.location_of(a.origin), message),
    });
}

#[cfg(test)]
mod tests {
    use super::super::{codes_of, some_nodes};

    #[test]
    fn overlaps() {
        for (settings, expected) in [
            ("  networking: {pod_cidr: 10.96.0.0/16}\n", vec!["BS-SPEC-041"]),
            ("  networking: {pod_cidr: 192.168.0.0/16}\n", vec!["BS-SPEC-041"]),
            ("  networking: {service_cidr: 192.168.0.0/20}\n", vec!["BS-SPEC-041"]),
            ("  networking: {service_cidr: 10.244.0.0/20}\n", vec!["BS-SPEC-041"]),
            ("  networking: {node_cidr: 0.0.0.0/0, gateway: none}\n", vec!["BS-SPEC-041", "BS-SPEC-041"]),
            ("  networking: {pod_cidr: 10.0.0.0/16, service_cidr: 10.1.0.0/16}\n", vec![]),
        ] {
            assert_eq!(codes_of(settings, &some_nodes(0)), expected, "{settings}");
        }
    }

    #[test]
    fn a_default_is_compared_too() {
        let nodes = "  - {name: m, ip: 10.244.3.10, roles: [master]}\n";
        assert_eq!(codes_of("", nodes), ["BS-SPEC-041"]);
    }
}
