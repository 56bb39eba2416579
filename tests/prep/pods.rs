//! The DaemonSets, their pods and their image.

use jiff::Timestamp;
use prep::{Prep, State};
use serde_json::Value;

use crate::{
    MASTER, WORKER,
    node::{ARCHIVES, BEFORE, INSTALLED, await_report, fill_disk, free_disk},
    support::{Cluster, eventually, text},
};

/// Where the manifests are on the master.
pub(crate) const MANIFESTS: &str = "/root/infrastructure/node-bootstrap";

/// Seconds between two looks at a node: the fewest that can be asked for.
pub(crate) const INTERVAL: u64 = 10;

/// The manifests in this repository.
pub(crate) const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../infrastructure/node-bootstrap");

/// The name of a DaemonSet, and the value of its pods' label `app`.
pub(crate) fn name(prep: Prep) -> String {
    format!("rke2-node-bootstrap-{prep}")
}

/// Brings the manifests to the master, as a clone of the repository would.
pub(crate) fn bring_manifests(cluster: &Cluster) {
    cluster.sh(MASTER, "rm -rf /root/infrastructure; mkdir /root/infrastructure");
    cluster.lab.run("cp", &[SOURCE, &format!("{MASTER}:{MANIFESTS}")]).ok();
}

/// What the guide says first.
fn first_commands() -> impl Iterator<Item = &'static str> {
    let guide = include_str!("../../docs/guide/node-bootstrap.md");
    let block = guide.split("```console\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    block.lines().filter_map(|line| line.strip_prefix("$ ")).filter(|line| line.starts_with("kubectl apply"))
}

/// Types what the guide says, unless that was done before. The worker has no room for packages at
/// first.
pub(crate) fn ensure_applied(cluster: &Cluster) {
    let is_there = |prep| cluster.try_kubectl(&["-n", "kube-system", "get", "daemonset", &name(prep)]).code == Some(0);
    if Prep::ALL.into_iter().all(is_there) {
        return;
    }
    for machine in [MASTER, WORKER] {
        cluster.sh(machine, &format!("[ -e {BEFORE} ] || {INSTALLED} > {BEFORE}"));
    }
    fill_disk(cluster, WORKER, ARCHIVES);
    bring_manifests(cluster);
    assert_eq!(first_commands().count(), Prep::ALL.len(), "the guide says how");
    for command in first_commands() {
        cluster.sh(MASTER, &format!("cd /root && {command}"));
    }
}

/// Applies the manifests and waits until master and worker have all that they can have on this kernel.
pub(crate) fn ensure_whole(cluster: &Cluster) {
    ensure_applied(cluster);
    free_disk(cluster, WORKER, ARCHIVES);
    for machine in [MASTER, WORKER] {
        await_report(cluster, machine, Prep::Iscsi, State::Incapable, Timestamp::UNIX_EPOCH);
    }
}

/// The same, and nodes are looked at again as often as can be asked for, without waiting for each other.
pub(crate) fn ensure_quick(cluster: &Cluster) {
    ensure_whole(cluster);
    let variable = format!("CHECK_INTERVAL={INTERVAL}");
    let daemon_set = format!("daemonset/{}", name(Prep::Iscsi));
    cluster.kubectl(&["-n", "kube-system", "set", "env", &daemon_set, &variable, "MAX_CONCURRENT=100%"]);
    let interval = INTERVAL.to_string();
    let is_quick = |pod: &Value| {
        let mut variables = pod["spec"]["containers"][0]["env"].as_array().into_iter().flatten();
        pod["status"]["phase"] == "Running"
            && variables.any(|one| one["name"] == "CHECK_INTERVAL" && one["value"] == interval.as_str())
    };
    eventually("every pod looks at its node every few seconds", || pods(cluster, Prep::Iscsi).iter().all(is_quick));
}

/// Kills the pod of a machine without asking it, and says the UID of the next one.
#[track_caller]
pub(crate) fn kill_pod(cluster: &Cluster, machine: &str, prep: Prep) -> String {
    let uid = |pod: &Value| text(&pod["metadata"]["uid"]);
    let killed = pod(cluster, machine, prep).unwrap();
    let name = text(&killed["metadata"]["name"]);
    cluster.kubectl(&["-n", "kube-system", "delete", "pod", &name, "--force", "--grace-period=0"]);
    let mut next = String::new();
    eventually("there is a next pod, and it runs", || {
        let pod =
            pod(cluster, machine, prep).filter(|pod| uid(pod) != uid(&killed) && pod["status"]["phase"] == "Running");
        next = pod.as_ref().map(uid).unwrap_or_default();
        !next.is_empty()
    });
    next
}

/// The DaemonSet as the API server keeps it.
pub(crate) fn daemon_set(cluster: &Cluster, prep: Prep) -> Value {
    let output = cluster.kubectl(&["-n", "kube-system", "get", "daemonset", &name(prep), "-o", "json"]);
    serde_json::from_str(&output).unwrap()
}

/// The pods of a DaemonSet that are not about to end.
pub(crate) fn pods(cluster: &Cluster, prep: Prep) -> Vec<Value> {
    let pods = cluster.get(&["pods", "-n", "kube-system", "-l", &format!("app={}", name(prep))]);
    pods.into_iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()).collect()
}

/// The pod of a machine.
pub(crate) fn pod(cluster: &Cluster, machine: &str, prep: Prep) -> Option<Value> {
    pods(cluster, prep).into_iter().find(|pod| pod["spec"]["nodeName"] == machine)
}

/// Waits until a pod runs on every one of these machines.
#[track_caller]
pub(crate) fn await_running(cluster: &Cluster, prep: Prep, machines: &[&str]) {
    eventually(&format!("a pod for {prep} runs on each of {machines:?}"), || {
        let pods = pods(cluster, prep);
        let runs = |machine: &&str| {
            pods.iter().any(|pod| pod["spec"]["nodeName"] == **machine && pod["status"]["phase"] == "Running")
        };
        machines.iter().all(runs)
    });
}

/// Whether Kubernetes calls a pod ready.
pub(crate) fn is_ready(pod: &Value) -> bool {
    let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// What the pod of a machine has logged.
pub(crate) fn log(cluster: &Cluster, machine: &str, prep: Prep) -> String {
    let pod = pod(cluster, machine, prep).map(|pod| text(&pod["metadata"]["name"])).unwrap_or_default();
    cluster.try_kubectl(&["-n", "kube-system", "logs", &pod]).out
}
