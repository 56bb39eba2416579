//! Attacks on real machines: each one worked once, or was read in the code, and must fail from now on.
//!
//! `cargo test --workspace --test security`, as root; plain `cargo test` leaves it out. docs/security/threat-model.md names for
//! each attacker the check here that proves what it says. `CHECKS='part|part'` makes only the checks whose names hold one
//! of these. To add an attack: a function in the file of its theme, and its line in the list there.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

#[path = "../ha/caller.rs"]
#[expect(dead_code, reason = "shared with the suite of three masters")]
mod caller;
#[path = "../support/cases.rs"]
#[expect(dead_code, reason = "shared with suites that need more of it")]
mod cases;
mod evicted;
mod flood;
mod forged;
mod kms;
mod kubelet_csr;
mod member;
mod stolen;
mod strangers;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;

use cases::is_turn;
use support::{Cluster, TestLab, turn};

/// Of the lab whose keys are rotated.
const MASTERS: [&str; 3] = ["master-01", "master-02", "master-03"];
/// A worker that is in the cluster, and whose root is the attacker.
const WORKER: &str = "worker-01";
/// A worker that has not joined: its name is still free.
const ABSENT: &str = "worker-02";

/// One master, a worker that has joined and one that has not, which joins on the way.
#[test]
fn no_attack_succeeds() {
    let _turn = turn();
    let cluster = Cluster::sealed(1, 2);
    for machine in ["master-01", WORKER] {
        cluster.install(&cluster.sealed_dir(machine), machine);
    }
    cluster.await_ready(&["master-01", WORKER]);
    cluster.check(&[forged::CHECKS, strangers::CHECKS, member::CHECKS]);
    cluster.install(&cluster.sealed_dir(ABSENT), ABSENT);
    cluster.await_ready(&Cluster::MACHINES);
    cluster.check(&[stolen::CHECKS, flood::CHECKS, strangers::LOCKED_OUT]);
}

/// One master whose Secrets a KMS encrypts. Takes turns with the lab of three masters.
#[test]
fn a_kms_encrypts_secrets() {
    if !is_turn(1, 4) {
        return;
    }
    let _turn = turn();
    kms::machine().check(&[kms::CHECKS]);
}

/// Three masters whose keys are all rotated. The suite of three masters does the same with another kind of commits.
#[test]
fn a_copy_opens_nothing() {
    if !is_turn(2, 4) {
        return;
    }
    let _turn = turn();
    let lab = TestLab::unmade();
    lab.run("up", &["--masters", "3", "--workers", "1"]).ok();
    Cluster { lab }.check(&[evicted::CHECKS]);
}
