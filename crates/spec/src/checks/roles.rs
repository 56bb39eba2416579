//! Nodes and their roles.

use std::collections::{HashMap, hash_map::Entry};

use crate::{
    cluster::Role,
    codes,
    draft::{Draft, DraftNode},
    problems::{Finding, Problems},
};

pub(super) fn lists_are_not_empty(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    if draft.nodes.is_empty() && draft.nodes_complete {
        problems.push(
            Finding::error(codes::NO_NODES, draft.nodes_location, "the list of nodes is empty")
                .hint("add at least one node with the role `master`".to_owned()),
        );
    }
    for node in &draft.nodes {
        if let Some(roles) = node.listed.roles.as_ref().filter(|roles| roles.items.is_empty() && roles.complete) {
            let message = format!("`{}` has no role", node.shown());
            problems.push(
                Finding::error(codes::NO_NODES, roles.location, message)
                    .hint("write for example `[worker]`".to_owned()),
            );
        }
    }
}

/// Also `[master, control-plane]`, which are two words for one role.
pub(super) fn are_listed_once(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    for node in &draft.nodes {
        let roles = node.listed.roles.iter().flat_map(|roles| &roles.items);
        let mut first = HashMap::new();
        for role in roles {
            match first.entry(role.value) {
                Entry::Vacant(free) => {
                    free.insert(role.location);
                }
                Entry::Occupied(first) => {
                    let message = format!("`{}` has the role `{}` twice", node.shown(), role.value);
                    let finding = Finding::warning(codes::ROLE_TWICE, role.location, message);
                    problems.push(finding.also(*first.get(), "listed here already"));
                }
            }
        }
    }
}

pub(super) fn there_is_a_master(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let certain = draft.nodes_complete && !draft.nodes.is_empty();
    if certain && draft.with_role(Role::Master).next().is_none() {
        problems.push(Finding::error(codes::NO_MASTER, draft.nodes_location, "no node has the role `master`"));
    }
}

/// With a bootstrap node this is an error, of a code of its own.
pub(super) fn masters_are_odd(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    if draft.with_role(Role::Bootstrap).next().is_none()
        && let Some(finding) = even(draft, Role::Master, codes::EVEN_MASTERS, "masters")
    {
        problems.push(finding);
    }
}

/// A warning at the last node of a role that an even number of nodes has.
pub(super) fn even(draft: &Draft<'_>, role: Role, code: explain::Code, what: &str) -> Option<Finding> {
    let holders: Vec<&DraftNode<'_>> = draft.with_role(role).collect();
    let count = holders.len();
    let last = holders.last().filter(|_| draft.nodes_complete && count.is_multiple_of(2))?;
    let (survives, instead) = (count / 2 - 1, count - 1);
    let message =
        format!("the number of {what} is even: {count} survive the loss of {survives}, the same as {instead}");
    Some(Finding::warning(code, last.name().map_or(last.listed.location, |name| name.location), message))
}

#[cfg(test)]
mod tests {
    use super::super::codes_of;

    #[test]
    fn roles() {
        let node =
            |name: &str, ip: u8, roles: &str| format!("  - {{name: {name}, ip: 10.0.0.{ip}, roles: [{roles}]}}\n");
        let (m1, m2, m3) =
            (node("m1", 11, "master"), node("m2", 12, "control-plane"), node("m3", 13, "master, worker"));
        for (nodes, expected) in [
            (m1.clone(), vec![]),
            (node("m", 11, "master, control-plane"), vec!["BS-SPEC-081"]),
            (node("m", 11, "master, worker, master"), vec!["BS-SPEC-081"]),
            (node("w", 11, "worker"), vec!["BS-SPEC-032"]),
            (node("w", 11, "workr"), vec!["BS-SPEC-023"]),
            (node("w", 11, ""), vec!["BS-SPEC-032", "BS-SPEC-031"]),
            (m1.clone() + &m2, vec!["BS-SPEC-055"]),
            (m1 + &m2 + &m3, vec![]),
            ("  []\n".to_owned(), vec!["BS-SPEC-031"]),
        ] {
            assert_eq!(codes_of("", &nodes), expected, "{nodes}");
        }
    }
}
