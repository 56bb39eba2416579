//! How the pod network is divided among the nodes.

use explain::counted;
use ipnet::IpNet;

use crate::{
    codes,
    draft::{Draft, Networks, Origin, Setting},
    problems::{Finding, Problems},
};

/// What kube-controller-manager can divide: it keeps a bitmap of all the nodes' parts.
const MAX_BITS_FOR_NODES: u8 = 16;
/// A part needs room for its own address, the bridge and at least one pod.
const MIN_BITS_FOR_PODS: u8 = 2;

pub(super) fn prefix_divides_the_network(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Networks { pod: Some(pod), pod_prefix_per_node: Some(prefix), .. } = &draft.networks else { return };
    if let Some(problem) = division_problem(*pod, *prefix) {
        let location = draft.location_of(prefix.origin.given().map_or(pod.origin, Origin::Given));
        problems.push(Finding::error(codes::POD_PREFIX, location, problem).hint(format!(
            "choose `pod_prefix_per_node` from {} to {}, or another `pod_cidr`",
            pod.value.prefix_len(),
            (pod.value.prefix_len() + MAX_BITS_FOR_NODES).min(pod.value.max_prefix_len() - MIN_BITS_FOR_PODS)
        )));
    }
}

fn division_problem(pod: Setting<IpNet>, prefix: Setting<u8>) -> Option<String> {
    let (pod, prefix, origin) = (pod.value, prefix.value, prefix.origin.note());
    let nodes_part = format!("a /{prefix}{origin} for each node");
    if prefix < pod.prefix_len() {
        Some(format!("{nodes_part} is larger than the pod network {pod}"))
    } else if prefix > pod.max_prefix_len() - MIN_BITS_FOR_PODS {
        Some(format!("{nodes_part} leaves no room for pods"))
    } else if prefix - pod.prefix_len() > MAX_BITS_FOR_NODES {
        Some(format!("{nodes_part} divides the pod network {pod} into more than 65,536 parts"))
    } else {
        None
    }
}

pub(super) fn network_is_large_enough(draft: &Draft<'_>, problems: &mut Problems<'_>) {
    let Networks { pod: Some(pod), pod_prefix_per_node: Some(prefix), .. } = &draft.networks else { return };
    if division_problem(*pod, *prefix).is_some() {
        return;
    }
    let prefix = prefix.value;
    let parts = 1_usize << (prefix - pod.value.prefix_len());
    let nodes = draft.nodes.len();
    if nodes > parts {
        let message = format!(
            "the pod network {}{} has room for {} with a /{prefix} each, but there are {nodes}",
            pod.value,
            pod.origin.note(),
            counted(parts, "node")
        );
        problems.push(Finding::error(codes::POD_NETWORK_SMALL, draft.location_of(pod.origin), message));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{codes_of, some_nodes};

    #[test]
    fn divisions() {
        for (settings, workers, expected) in [
            ("pod_cidr: 10.244.0.0/16", 200, vec![]),
            ("pod_cidr: 10.244.0.0/23", 1, vec![]),
            ("pod_cidr: 10.244.0.0/23", 2, vec!["BS-SPEC-045"]),
            ("pod_cidr: 10.244.0.0/24, pod_prefix_per_node: 24", 0, vec![]),
            ("pod_cidr: 10.244.0.0/25", 0, vec!["BS-SPEC-044"]),
            ("pod_prefix_per_node: 31", 0, vec!["BS-SPEC-044"]),
            ("pod_prefix_per_node: 64", 0, vec!["BS-SPEC-044"]),
            ("pod_cidr: 11.0.0.0/8, pod_prefix_per_node: 25", 0, vec!["BS-SPEC-044"]),
        ] {
            let settings = format!("  networking: {{{settings}}}\n");
            assert_eq!(codes_of(&settings, &some_nodes(workers)), expected, "{settings}");
        }
    }
}
