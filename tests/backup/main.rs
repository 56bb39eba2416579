//! Backups of a real cluster, and the way back: what is written is whole, what is broken is refused, and what was lost
//! comes back.
//!
//! `cargo test --workspace --test backup`, as root; plain `cargo test` leaves it out. To add one: a function in the file
//! of its theme, and its line in the list there. Every check leaves a cluster that works.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod database;
mod files;
mod lost;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;

use support::{Cluster, TestLab, eventually, turn};

/// The only machine.
const MASTER: &str = "master-01";

/// One cluster goes through all of it, and loses everything at the end.
#[test]
fn a_cluster_comes_back_from_its_backup() {
    let _turn = turn();
    let lab = TestLab::unmade();
    lab.run("up", &["--workers", "0"]).ok();
    let cluster = Cluster { lab };
    cluster.check(&[database::CHECKS, files::CHECKS, lost::CHECKS]);
}

/// Makes an object of this name, with something in it.
fn remember(cluster: &Cluster, name: &str) {
    cluster.kubectl(&["create", "configmap", name, "--from-literal=kept=yes"]);
}

/// Whether it is there.
fn remembers(cluster: &Cluster, name: &str) -> bool {
    let output = cluster.try_kubectl(&["get", "configmap", name, "-o", "jsonpath={.data.kept}"]);
    if output.code != Some(0) {
        assert!(output.err.contains("not found"), "{output:?}");
        return false;
    }
    assert_eq!(output.out, "yes");
    true
}

/// After something was restored.
fn start(cluster: &Cluster) {
    // How fast the disk is says nothing here: the computer may be building something at the same time.
    let output = cluster.node_up(MASTER, "--skip disk-latency").ok();
    assert!(output.contains("is a Ready node"), "{output}");
    cluster.await_ready(&[MASTER]);
    eventually("etcd is healthy", || cluster.try_sh(MASTER, "blackstart etcd status").code == Some(0));
}
