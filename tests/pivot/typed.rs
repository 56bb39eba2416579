//! What people type on a bootstrap node, as docs/guide/pivot.md has it.

use crate::{
    BOOTSTRAP,
    support::{Cluster, eventually},
};

/// Of `bootkube.service`, in their order.
const MESSAGES: [&str; 11] = [
    "Starting bootkube.sh...",
    "Rendering etcd manifests...",
    "Rendering kube-apiserver manifests...",
    "Starting cluster-bootstrap...",
    "Waiting for API server to come up...",
    "API server is up",
    "Applying cluster manifests...",
    "Waiting for bootstrap to complete...",
    "etcd cluster is healthy: every master has a vote",
    "the control plane is on the masters",
    "bootkube.service complete",
];

/// While it holds the cluster.
pub(crate) fn holds(cluster: &Cluster) {
    let sh = |line: &str| cluster.sh(BOOTSTRAP, line);
    eventually("four static pods are ready", || sh("crictl pods --state ready -q | wc -l") == "4");
    assert!(sh("crictl exec $(crictl ps -q --name etcd) etcdctl endpoint health 2>&1").contains("is healthy"));
    let health = "curl -s --cacert /etc/kubernetes/pki/ca.crt https://localhost:6443/healthz";
    assert_eq!(sh(health), "ok");
    let namespaces = sh("kubectl --kubeconfig=/etc/kubernetes/kubeconfigs/localhost.kubeconfig get ns -o name");
    assert!(namespaces.contains("namespace/openshift-cluster-version"), "{namespaces}");
    let mut last = String::new();
    eventually("the checklist is met", || {
        let output = cluster.try_sh(BOOTSTRAP, "blackstart bootstrap status --checklist");
        if output.out != last {
            last.clone_from(&output.out);
            eprintln!("{last}");
        }
        output.code == Some(0)
    });
}

/// When the masters have taken over.
pub(crate) fn is_complete(cluster: &Cluster) {
    let journal = cluster.journal(BOOTSTRAP, "bootkube");
    let mut left = journal.as_str();
    for message in MESSAGES {
        let at = left.find(message).unwrap_or_else(|| panic!("{message}, behind the ones before, in:\n{journal}"));
        left = &left[at + message.len()..];
    }
    let status = cluster.sh(BOOTSTRAP, "blackstart bootstrap status");
    assert_eq!(status.matches("[x]").count(), 13, "{status}");
    let timeline = cluster.sh(BOOTSTRAP, "blackstart node timeline");
    assert!(timeline.contains("Control plane pivots to masters"), "{timeline}");
    let watched = cluster.sh(crate::MASTERS[0], "blackstart watch --once");
    assert!(watched.contains("bootstrap complete"), "{watched}");
}
