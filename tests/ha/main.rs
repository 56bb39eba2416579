//! Three masters: how they start together, what they stand, how one that lost its disk comes back.
//!
//! `cargo test --workspace --test ha`, as root; plain `cargo test` leaves it out. `CHECKS='part|part'` makes only the checks
//! whose names hold one of these. To add one: a function in the file of its theme, and its line in the list there.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod alone;
mod caller;
#[path = "../support/cases.rs"]
#[expect(dead_code, reason = "shared with suites that need more of it")]
mod cases;
mod clock;
mod first_boot;
mod full_disk;
mod killed;
mod reimaged;
mod removed;
mod renewed;
mod restored;
mod rotated;
mod severed;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;
mod survives;
mod together;

use caller::Caller;
use cases::is_turn;
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
    cluster.check(&[together::CHECKS, renewed::CHECKS, survives::CHECKS]);
    if is_turn(1, 2) {
        cluster.check(&[reimaged::CHECKS]);
    }
    if is_turn(1, 4) {
        cluster.check(&[removed::CHECKS]);
    }
    // From here on, what the lab would give a machine with an empty disk is sealed with CAs of the past.
    if is_turn(0, 4) {
        cluster.check(&[rotated::CHECKS]);
    }
}

/// Masters that do not see each other at first, or come one after the other.
#[test]
fn masters_come_in_any_order() {
    if !is_turn(3, 4) {
        return;
    }
    let _turn = turn();
    let cluster = Cluster::sealed(3, 0);
    cluster.check(&[first_boot::CHECKS]);
}

/// Masters that join while something goes wrong, under the eyes of a client that writes; and at the end all of them are lost.
#[test]
fn masters_join_whatever_happens() {
    let _turn = turn();
    let cluster = Cluster::sealed(3, 1);
    alone::bootstraps(&cluster);
    let caller = Caller::begin(&cluster);
    cluster.check(&[killed::CHECKS, clock::CHECKS, severed::CHECKS, full_disk::CHECKS]);
    let (acknowledged, lost) = caller.end();
    eprintln!("{acknowledged} writes were acknowledged, {} of them are lost", lost.len());
    assert!(lost.is_empty(), "{lost:?}");
    if is_turn(3, 4) {
        cluster.check(&[restored::CHECKS]);
    }
}

/// The disk of a master is lost: it is a machine that has never been anything, and has booted. The operator who replaces disks arms the
/// names for the new ones, where a master is left to do it on.
fn lose_disks(cluster: &Cluster, masters: &[&str]) {
    if let Some(left) = MASTERS.iter().find(|master| !masters.contains(master)) {
        for lost in masters {
            // Without its Node there is no wait for the old machine to be missed.
            let arm = format!("blackstart node rearm {lost} && kubectl delete node {lost} --ignore-not-found");
            cluster.sh(left, &arm);
        }
    }
    cluster.lab.run("wipe", &[&["--yes"], masters].concat()).ok();
    cluster.lab.up(3, 1).ok();
}

/// Settings for the bootstrap of a machine that end with its boot; `BLACKSTART_FAULT=etcd:waiting:kill` for example.
fn bootstrap_with(cluster: &Cluster, machine: &str, variable: &str) {
    let dir = "/run/systemd/system/cluster-bootstrap.service.d";
    let settings = format!("[Service]\\nEnvironment={variable}\\nRestartSec=1s\\n");
    cluster.sh(machine, &format!("mkdir -p {dir} && printf '{settings}' > {dir}/fault.conf"));
}

/// Where a bootstrap has ended itself because it was asked to; empty if it has not.
fn struck_at(cluster: &Cluster, machine: &str) -> String {
    cluster.try_sh(machine, "cat /run/blackstart-fault").out.trim().to_owned()
}

/// What the last bootstrap of a machine says.
fn message(cluster: &Cluster, machine: &str) -> String {
    cluster.last_up(machine).map(|run| run.message()).unwrap_or_default()
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
