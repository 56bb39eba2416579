//! Ceph's roles and networks.

use super::roles::even;
use crate::{
    cluster::Role,
    codes,
    draft::{Draft, DraftNode},
    problems::{Finding, Problems},
};

pub(super) fn has_a_monitor(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(first) = draft.nodes.iter().find(|node| node.has_ceph_role()) else { return };
    if draft.nodes_complete && draft.with_role(Role::CephMon).next().is_none() {
        let message = format!("`{}` has a Ceph role, but no node is a monitor", first.shown());
        problems.push(Finding::error(codes::CEPH_WITHOUT_MONITOR, first.roles_location(), message));
    }
}

pub(super) fn has_a_manager(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(first) = draft.with_role(Role::CephMon).next() else { return };
    if draft.nodes_complete && draft.with_role(Role::CephMgr).next().is_none() {
        let message = "there are Ceph monitors, but no node has the role `ceph-mgr`";
        problems.push(Finding::warning(codes::CEPH_WITHOUT_MANAGER, first.roles_location(), message));
    }
}

pub(super) fn monitors_are_odd(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    if let Some(finding) = even(draft, Role::CephMon, codes::EVEN_MONITORS, "Ceph monitors") {
        problems.push(finding);
    }
}

pub(super) fn monitors_are_in_the_public_network(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(network) = draft.cluster.ceph.as_ref().and_then(|section| section.public_network.as_ref()) else { return };
    for node in draft.with_role(Role::CephMon) {
        let Some(ip) = &node.listed.ip else { continue };
        let same_family = ip.is_ipv4() == network.addr().is_ipv4();
        if same_family && !network.contains(&ip.value) {
            let message = format!(
                "the monitor `{}` at {} is outside Ceph's public network {}",
                node.shown(),
                ip.value,
                network.value
            );
            problems.push(
                Finding::error(codes::CEPH_NETWORK, ip.location, message).also(network.location, "the public network"),
            );
        }
    }
}

pub(super) fn settings_are_used(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(section) = &draft.cluster.ceph else { return };
    if draft.nodes_complete && !draft.nodes.iter().any(DraftNode::has_ceph_role) {
        let message = "these settings have no effect: no node has a Ceph role";
        problems.push(Finding::warning(codes::CEPH_UNUSED, section.location, message));
    }
}

#[cfg(test)]
mod tests {
    use super::super::codes_of;

    #[test]
    fn ceph() {
        let node = |name: &str, ip: u8, roles: &str| {
            format!(
                "  - {{name: {name}, ip: 10.0.0.{ip}, roles: [{roles}]{}}}\n",
                if roles.contains("ceph-osd") { ", ceph: {osds: [{device: /dev/sdb}]}" } else { "" }
            )
        };
        let master = node("m", 11, "master, ceph-mon, ceph-mgr");
        for (settings, nodes, expected) in [
            ("", master.clone() + &node("w", 12, "worker, ceph-osd"), vec![]),
            ("", master.clone() + &node("w", 12, "ceph-mon"), vec!["BS-SPEC-056"]),
            ("", node("m", 11, "master, ceph-osd"), vec!["BS-SPEC-049"]),
            ("", node("m", 11, "master, ceph-mon"), vec!["BS-SPEC-060"]),
            ("  ceph: {public_network: 10.0.0.0/24}\n", node("m", 11, "master"), vec!["BS-SPEC-059"]),
            ("  ceph: {public_network: 10.0.0.0/24}\n", master.clone(), vec![]),
            ("  ceph: {public_network: 10.9.0.0/24}\n", master.clone(), vec!["BS-SPEC-050"]),
            ("  ceph: {public_network: 10.244.9.0/24}\n", master, vec!["BS-SPEC-041", "BS-SPEC-050"]),
        ] {
            assert_eq!(codes_of(settings, &nodes), expected, "{settings}{nodes}");
        }
    }
}
