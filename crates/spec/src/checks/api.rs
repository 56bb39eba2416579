//! The API server's port.

use crate::{
    codes,
    draft::Draft,
    problems::{Finding, Problems},
};

/// Ports of what runs beside the API server on a master.
const TAKEN: &[(u16, &str)] = &[
    (22, "SSH"),
    (53, "DNS"),
    (2379, "etcd"),
    (2380, "etcd's peers"),
    (2381, "etcd's metrics"),
    (3300, "a Ceph monitor"),
    (6789, "a Ceph monitor"),
    (10248, "the kubelet"),
    (10250, "the kubelet"),
    (10256, "kube-proxy"),
    (10257, "kube-controller-manager"),
    (10259, "kube-scheduler"),
];

pub(super) fn port_is_free(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Some(port) = draft.cluster.api.as_ref().and_then(|api| api.port.as_ref()) else { return };
    if let Some((number, owner)) = TAKEN.iter().find(|(number, _)| *number == port.0) {
        let message = format!("port {number} of a master is used by {owner}");
        problems.push(Finding::error(codes::PORT_TAKEN, port.location, message));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{codes_of, some_nodes};

    #[test]
    fn ports() {
        for (port, expected) in
            [(6443, vec![]), (443, vec![]), (2379, vec!["BS-SPEC-046"]), (10250, vec!["BS-SPEC-046"])]
        {
            assert_eq!(codes_of(&format!("  api: {{port: {port}}}\n"), &some_nodes(0)), expected, "{port}");
        }
    }
}
