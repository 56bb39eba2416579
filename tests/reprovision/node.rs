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
    await_end_of(cluster, WORKER, phase, attempt)
}

/// The same of another node, whose API may be away meanwhile.
#[track_caller]
pub(crate) fn await_end_of(cluster: &Cluster, name: &str, phase: &str, attempt: u64) -> Value {
    let mut last = Value::Null;
    eventually(&format!("{name} is {phase}"), || {
        last = object_of(cluster, name)["status"].clone();
        let is_end = ["Done", "Refused", "RolledBack", "Stuck"].iter().any(|end| last["phase"] == *end);
        let is_new = last["attempt"].as_u64().is_some_and(|seen| seen > attempt);
        assert!(!(is_end && is_new) || last["phase"] == phase, "{last:#}\n{}", report_of(cluster, name));
        is_end && is_new
    });
    last
}

/// How many times it was begun so far.
pub(crate) fn attempt(cluster: &Cluster) -> u64 {
    attempt_of(cluster, WORKER)
}

/// The same of another node.
pub(crate) fn attempt_of(cluster: &Cluster, name: &str) -> u64 {
    object_of(cluster, name)["status"]["attempt"].as_u64().unwrap_or_default()
}

/// The Node.
pub(crate) fn node(cluster: &Cluster) -> Value {
    node_of(cluster, WORKER)
}

fn node_of(cluster: &Cluster, name: &str) -> Value {
    serde_json::from_str(&cluster.kubectl(&["get", "node", name, "-o", "json"])).unwrap()
}

/// The node's last report.
fn report_of(cluster: &Cluster, name: &str) -> Value {
    let node = node_of(cluster, name);
    let text = node["metadata"]["annotations"]["blackstart.io/upgrade-report"].as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

/// Nothing of a run is left in the cluster and on the machine, and the Node is what others have made of it.
#[track_caller]
pub(crate) fn assert_given_back(cluster: &Cluster) {
    assert_given_back_of(cluster, WORKER);
}

/// The same of another node.
#[track_caller]
pub(crate) fn assert_given_back_of(cluster: &Cluster, name: &str) {
    let node = node_of(cluster, name);
    assert!(node["spec"]["unschedulable"].is_null() || node["spec"]["unschedulable"] == false, "{node:#}");
    let labels = &node["metadata"]["labels"];
    assert!(labels["ibm-cloud.kubernetes.io/ipb-schedule"].is_null(), "{labels:#}");
    assert!(node["metadata"]["annotations"]["blackstart.io/upgrade-order"].is_null(), "{node:#}");
    let roles = cluster.get(&["role,rolebinding", "-n", "ipb-system"]);
    let of_node = roles.iter().filter(|role| role["metadata"]["name"].as_str().unwrap().contains(name));
    assert_eq!(of_node.count(), 0, "the right to the Secret is gone");
    eventually("the node's units have nothing more to do", || {
        cluster
            .try_sh(
                name,
                "! systemctl is-active -q blackstart-reprovision && ! systemctl is-enabled -q blackstart-reprovision",
            )
            .code
            == Some(0)
    });
    let left = cluster.sh(name, "ls /var/lib/blackstart-reprovision | xargs");
    assert_eq!(left, "lock note.json", "nothing of a run stays, above all no secret");
}
