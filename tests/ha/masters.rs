//! Three masters and a worker, and what is asked of them.

use serde_json::Value;

use crate::support::{Cluster, eventually, text};

/// Of every lab here.
pub(crate) const MASTERS: [&str; 3] = ["master-01", "master-02", "master-03"];
/// The only worker.
pub(crate) const WORKER: &str = "worker-01";
pub(crate) const NODES: [&str; 4] = ["master-01", "master-02", "master-03", "worker-01"];

pub(crate) const ETCDCTL: &str = "etcdctl --command-timeout 3s --cacert /etc/kubernetes/pki/etcd/ca.crt \
     --cert /etc/kubernetes/pki/etcd/healthcheck-client.crt --key /etc/kubernetes/pki/etcd/healthcheck-client.key";

/// The disk of a master is lost: it is a machine that has never been anything, and has booted. The operator who replaces disks arms the
/// names for the new ones, where a master is left to do it on.
pub(crate) fn lose_disks(cluster: &Cluster, masters: &[&str]) {
    if let Some(left) = MASTERS.iter().find(|master| !masters.contains(master)) {
        for lost in masters {
            // Without its Node there is no wait for the old machine to be missed.
            let arm = format!("blackstart node rearm {lost} && kubectl delete node {lost} --ignore-not-found");
            cluster.sh(left, &arm);
        }
    }
    cluster.lab.run("wipe", &[&["--yes"], masters].concat()).ok();
    // With the machines that it has, whichever these are.
    cluster.lab.run("up", &["--machines-only"]).ok();
}

/// Settings for the bootstrap of a machine that end with its boot; `BLACKSTART_FAULT=etcd:waiting:kill` for example.
pub(crate) fn bootstrap_with(cluster: &Cluster, machine: &str, variable: &str) {
    let dir = "/run/systemd/system/cluster-bootstrap.service.d";
    let settings = format!("[Service]\\nEnvironment={variable}\\nRestartSec=1s\\n");
    cluster.sh(machine, &format!("mkdir -p {dir} && printf '{settings}' > {dir}/fault.conf"));
}

/// Where a bootstrap has ended itself because it was asked to; empty if it has not.
pub(crate) fn struck_at(cluster: &Cluster, machine: &str) -> String {
    cluster.try_sh(machine, "cat /run/blackstart-fault").out.trim().to_owned()
}

/// What the last bootstrap of a machine says.
pub(crate) fn message(cluster: &Cluster, machine: &str) -> String {
    cluster.last_up(machine).map(|run| run.message()).unwrap_or_default()
}

/// The Ready nodes, asked on one master.
pub(crate) fn ready_at(cluster: &Cluster, master: &str) -> Vec<String> {
    let list = cluster.try_sh(master, "kubectl get nodes -o json --request-timeout 5s").out;
    let list: Value = serde_json::from_str(&list).unwrap_or_default();
    let is_ready = |node: &&Value| {
        let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    };
    let nodes = list["items"].as_array().into_iter().flatten().filter(is_ready);
    nodes.map(|node| text(&node["metadata"]["name"])).collect()
}

/// etcd's members as a master sees them: name, and whether it has a vote.
pub(crate) fn members(cluster: &Cluster, master: &str) -> Vec<(String, bool)> {
    let list = cluster.try_sh(master, &format!("{ETCDCTL} member list -w json")).out;
    let list: Value = serde_json::from_str(&list).unwrap_or_default();
    // One that has not started has no name yet.
    let one = |member: &Value| (member["name"].as_str().unwrap_or_default().to_owned(), member["isLearner"] != true);
    let mut members: Vec<_> = list["members"].as_array().into_iter().flatten().map(one).collect();
    members.sort();
    members
}

/// Waits until every master is a member with a vote, seen from each of them, and every node is Ready.
pub(crate) fn await_whole(cluster: &Cluster, nodes: &[&str]) {
    let voters: Vec<_> = MASTERS.map(|name| (name.to_owned(), true)).into();
    for master in MASTERS {
        eventually(&format!("{master} has done its run"), || cluster.is_up(master));
        eventually(&format!("three voters, seen from {master}"), || members(cluster, master) == voters);
        eventually(&format!("{nodes:?} are Ready, seen from {master}"), || ready_at(cluster, master) == nodes);
    }
}
