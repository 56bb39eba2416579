//! Who may do what, beyond what the API server grants by itself. Names are kubeadm's where it has the same binding.

use serde_json::{Value, json};
use spec::ValidatedCluster;

use super::{
    cluster_version,
    role::{cluster_binding, cluster_role, group, user},
};

/// The group in the client certificates of our agents.
pub const AGENTS_GROUP: &str = "blackstart:agents";

const AGENT: &str = "blackstart:agent";

/// Roles and bindings that every cluster has, and those of the operator where a bootstrap node begins it.
pub fn rbac(cluster: &ValidatedCluster) -> Vec<Value> {
    let mut objects = vec![
        cluster_binding("kubeadm:cluster-admins", "cluster-admin", &[group("kubeadm:cluster-admins")]),
        // The API server's way into kubelets: logs, exec and port-forward.
        cluster_binding(
            "kubeadm:apiserver-kubelet-client",
            "system:kubelet-api-admin",
            &[user("kube-apiserver-kubelet-client")],
        ),
        // An agent follows the nodes for its routes. It changes nothing.
        cluster_role(AGENT, &json!([{ "apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"] }])),
        cluster_binding(AGENT, AGENT, &[group(AGENTS_GROUP)]),
    ];
    if cluster.bootstrap_node().is_some() {
        objects.extend(cluster_version::roles());
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, cluster, manifest};

    #[test]
    fn all_of_it() {
        insta::assert_snapshot!(manifest(&rbac(&cluster(HOME))));
    }
}
