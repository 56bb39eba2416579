//! A node that is worked on, as the cluster and the machine show it.

use std::time::Instant;

use serde_json::Value;

use crate::{
    MASTER, WORKER, api,
    support::{Cluster, eventually},
};

/// Where the keys of the Secret are on the master.
pub(crate) const KEYS: &str = "/root/keys";

/// `blackstart reprovision start`, with a Secret of its own; the moment before the label.
pub(crate) fn start(cluster: &Cluster) -> Instant {
    api::secret(cluster, KEYS);
    let began = Instant::now();
    cluster.sh(MASTER, &format!("blackstart reprovision start {WORKER} --secret {KEYS}"));
    began
}

/// The object of the node; null if there is none.
pub(crate) fn object(cluster: &Cluster) -> Value {
    object_of(cluster, WORKER)
}

/// The object of any node.
pub(crate) fn object_of(cluster: &Cluster, node: &str) -> Value {
    serde_json::from_str(&cluster.try_kubectl(&["get", "nodeupgrade", node, "-o", "json"]).out).unwrap_or_default()
}

/// Waits until the work has ended like this, in an attempt after `attempt`, and returns its status.
#[track_caller]
pub(crate) fn await_end(cluster: &Cluster, phase: &str, attempt: u64) -> Value {
    let mut last = Value::Null;
    eventually(&format!("{WORKER} is {phase}"), || {
        last = object(cluster)["status"].clone();
        let is_end = ["Done", "Refused", "RolledBack", "Stuck"].iter().any(|end| last["phase"] == *end);
        let is_new = last["attempt"].as_u64().is_some_and(|seen| seen > attempt);
        assert!(!(is_end && is_new) || last["phase"] == phase, "{last:#}\n{}", report(cluster));
        is_end && is_new
    });
    last
}

/// How many times it was begun so far.
pub(crate) fn attempt(cluster: &Cluster) -> u64 {
    object(cluster)["status"]["attempt"].as_u64().unwrap_or_default()
}

/// The Node.
pub(crate) fn node(cluster: &Cluster) -> Value {
    serde_json::from_str(&cluster.kubectl(&["get", "node", WORKER, "-o", "json"])).unwrap()
}

/// The node's last report.
pub(crate) fn report(cluster: &Cluster) -> Value {
    let node = node(cluster);
    let text = node["metadata"]["annotations"]["blackstart.io/upgrade-report"].as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

/// Nothing of a run is left in the cluster and on the machine, and the Node is what others have made of it.
#[track_caller]
pub(crate) fn assert_given_back(cluster: &Cluster) {
    let node = node(cluster);
    assert!(node["spec"]["unschedulable"].is_null() || node["spec"]["unschedulable"] == false, "{node:#}");
    let labels = &node["metadata"]["labels"];
    assert!(labels["ibm-cloud.kubernetes.io/ipb-schedule"].is_null(), "{labels:#}");
    assert!(node["metadata"]["annotations"]["blackstart.io/upgrade-order"].is_null(), "{node:#}");
    let roles = cluster.get(&["role,rolebinding", "-n", "ipb-system"]);
    let of_node = roles.iter().filter(|role| role["metadata"]["name"].as_str().unwrap().contains(WORKER));
    assert_eq!(of_node.count(), 0, "the right to the Secret is gone");
    eventually("the node's units have nothing more to do", || {
        cluster
            .try_sh(
                WORKER,
                "! systemctl is-active -q blackstart-reprovision && ! systemctl is-enabled -q blackstart-reprovision",
            )
            .code
            == Some(0)
    });
    let left = cluster.sh(WORKER, "ls /var/lib/blackstart-reprovision | xargs");
    assert_eq!(left, "lock note.json", "nothing of a run stays, above all no secret");
}
