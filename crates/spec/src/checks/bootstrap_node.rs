//! The temporary bootstrap node.

use crate::{
    cluster::Role,
    codes,
    draft::{Draft, DraftNode},
    location::Location,
    problems::{Finding, Problems},
};

/// How many masters can take a cluster over.
const MASTERS: [usize; 3] = [1, 3, 5];

pub(super) fn has_no_other_role(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    for node in draft.with_role(Role::Bootstrap) {
        let roles = node.listed.roles.iter().flat_map(|roles| &roles.items);
        for other in roles.filter(|role| role.value != Role::Bootstrap) {
            let message = format!("`{}` has the role `{}` beside `bootstrap`", node.shown(), other.value);
            problems.push(Finding::error(codes::BOOTSTRAP_ROLES, other.location, message));
        }
    }
}

pub(super) fn is_the_only_one(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let mut nodes = draft.with_role(Role::Bootstrap);
    let Some(first) = nodes.next() else { return };
    for other in nodes {
        let message = format!("`{}` has the role `bootstrap`, and so has `{}`", other.shown(), first.shown());
        let finding = Finding::error(codes::TWO_BOOTSTRAP_NODES, role_location(other), message);
        problems.push(finding.also(role_location(first), "the first one"));
    }
}

/// Says nothing about a cluster without any master: another check does.
pub(super) fn has_masters_to_hand_over_to(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(node) = draft.with_role(Role::Bootstrap).next().filter(|_| draft.nodes_complete) else { return };
    let masters = draft.with_role(Role::Master).count();
    if masters != 0 && !MASTERS.contains(&masters) {
        let message = format!("`{}` would hand the cluster over to {masters} masters", node.shown());
        problems.push(Finding::error(codes::BOOTSTRAP_MASTERS, role_location(node), message));
    }
}

/// The plugin runs on every master; the bootstrap node's API server would wait for one of its own.
pub(super) fn has_no_kms_plugin(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(node) = draft.with_role(Role::Bootstrap).next() else { return };
    let kms = draft.cluster.encryption.as_ref().and_then(|encryption| encryption.kms.as_ref());
    if let Some(endpoint) = kms.and_then(|kms| kms.endpoint.as_ref()) {
        let message = format!("`{}` has no KMS plugin, and its API server would not start", node.shown());
        let finding = Finding::error(codes::BOOTSTRAP_KMS, endpoint.location, message);
        problems.push(finding.also(role_location(node), "the bootstrap node"));
    }
}

/// Where the role stands.
fn role_location(node: &DraftNode<'_>) -> Location {
    let mut roles = node.listed.roles.iter().flat_map(|roles| &roles.items);
    roles.find(|role| role.value == Role::Bootstrap).map_or_else(|| node.roles_location(), |role| role.location)
}

#[cfg(test)]
mod tests {
    use super::super::codes_of;

    #[test]
    fn bootstrap_nodes() {
        let node =
            |name: &str, ip: u8, roles: &str| format!("  - {{name: {name}, ip: 10.0.0.{ip}, roles: [{roles}]}}\n");
        let one = node("bootstrap", 9, "bootstrap");
        for (masters, nodes, expected) in [
            (1, one.clone(), vec![]),
            (3, one.clone(), vec![]),
            (5, one.clone(), vec![]),
            (0, one.clone(), vec!["BS-SPEC-032"]),
            (2, one.clone(), vec!["BS-SPEC-085"]),
            (7, one.clone(), vec!["BS-SPEC-085"]),
            (2, one.replace("bootstrap]", "bootstap]"), vec!["BS-SPEC-023"]),
            (2, node("w", 9, "worker"), vec!["BS-SPEC-055"]),
            (1, node("b", 9, "bootstrap, worker"), vec!["BS-SPEC-083"]),
            (1, node("b", 9, "bootstrap, ceph-mon, worker"), vec!["BS-SPEC-060", "BS-SPEC-083", "BS-SPEC-083"]),
            (0, node("b", 9, "bootstrap, master"), vec!["BS-SPEC-083"]),
            (1, one.clone() + &node("other", 8, "bootstrap"), vec!["BS-SPEC-084"]),
        ] {
            let masters = (1..=masters).map(|index| node(&format!("m{index}"), 10 + index, "master"));
            let all = masters.collect::<String>() + &nodes;
            assert_eq!(codes_of("", &all), expected, "{all}");
        }
    }
}
