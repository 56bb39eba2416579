//! Three masters: how they start together, what they stand, how one that lost its disk comes back.
//!
//! `cargo test -p blackstart --test ha`, as root; plain `cargo test` leaves it out. `CHECKS='part|part'` makes only the checks
//! whose names hold one of these. To add one: a function in the file of its theme, and its line in the list there.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod caller;
mod first_boot;
mod reimaged;
mod removed;
mod renewed;
mod rotated;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;
mod survives;
mod together;

use serde_json::Value;
use support::{Cluster, TestLab, eventually, turn};

/// Of every lab here.
const MASTERS: [&str; 3] = ["master-01", "master-02", "master-03"];
/// The only worker.
const WORKER: &str = "worker-01";
const NODES: [&str; 4] = ["master-01", "master-02", "master-03", "worker-01"];

/// `lab up` for the shape of these labs.
const UP: [&str; 4] = ["--masters", "3", "--workers", "1"];

/// Masters that are switched on at the same moment, and what happens to them.
#[test]
fn three_masters_are_one_cluster() {
    let _turn = turn();
    let lab = TestLab::unmade();
    lab.run("up", &UP).ok();
    let cluster = Cluster { lab };
    cluster.check(&[
        together::CHECKS,
        renewed::CHECKS,
        rotated::CHECKS,
        survives::CHECKS,
        reimaged::CHECKS,
        removed::CHECKS,
    ]);
}

/// Masters that do not see each other at first, or come one after the other.
#[test]
fn masters_come_in_any_order() {
    let _turn = turn();
    let cluster = Cluster::sealed(3, 0);
    cluster.check(&[first_boot::CHECKS]);
}

/// The Ready nodes, asked on one master.
fn ready_at(cluster: &Cluster, master: &str) -> Vec<String> {
    let list = cluster.try_sh(master, "kubectl get nodes -o json --request-timeout 5s").out;
    let list: Value = serde_json::from_str(&list).unwrap_or_default();
    let is_ready = |node: &&Value| {
        let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    };
    let nodes = list["items"].as_array().into_iter().flatten().filter(is_ready);
    nodes.map(|node| support::text(&node["metadata"]["name"])).collect()
}

/// etcd's members as a master sees them: name, and whether it has a vote.
fn members(cluster: &Cluster, master: &str) -> Vec<(String, bool)> {
    let list = cluster.try_sh(master, &format!("{ETCDCTL} member list -w json")).out;
    let list: Value = serde_json::from_str(&list).unwrap_or_default();
    // One that has not started has no name yet.
    let one = |member: &Value| (member["name"].as_str().unwrap_or_default().to_owned(), member["isLearner"] != true);
    let mut members: Vec<_> = list["members"].as_array().into_iter().flatten().map(one).collect();
    members.sort();
    members
}

/// Waits until every master is a member with a vote, seen from each of them, and every node is Ready.
fn await_whole(cluster: &Cluster, nodes: &[&str]) {
    let voters: Vec<_> = MASTERS.map(|name| (name.to_owned(), true)).into();
    for master in MASTERS {
        eventually(&format!("{master} has done its run"), || cluster.is_up(master));
        eventually(&format!("three voters, seen from {master}"), || members(cluster, master) == voters);
        eventually(&format!("{nodes:?} are Ready, seen from {master}"), || ready_at(cluster, master) == nodes);
    }
}

const ETCDCTL: &str = "etcdctl --command-timeout 3s --cacert /etc/kubernetes/pki/etcd/ca.crt \
     --cert /etc/kubernetes/pki/etcd/healthcheck-client.crt --key /etc/kubernetes/pki/etcd/healthcheck-client.key";
