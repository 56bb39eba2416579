//! What a cluster goes through: processes killed, disks full or read-only, clocks that jump, name servers gone; and that
//! what is gathered of it holds no secret.
//!
//! `cargo test --workspace --test faults`, as root; plain `cargo test` leaves it out. To add a fault: a function in the
//! file of its theme, and its line in the list there. Every one of them asserts the code that is printed and that the
//! machine gets there when the fault is gone.
//!
//! `BLACKSTART_TEST_FULL=1` plays all pairs of killed processes instead of some;
//! `BLACKSTART_TEST_SEED=N` chooses those of another commit again.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod clock;
mod disk;
mod gathered;
mod kills;
mod names;
mod secrets;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;

use support::{Cluster, TestLab, turn};

/// The only master, of every lab here.
const MASTER: &str = "master-01";
/// The only worker.
const WORKER: &str = "worker-01";

/// A cluster that is there, and what happens to it.
#[test]
fn a_cluster_stands_what_happens_to_it() {
    let _turn = turn();
    let lab = TestLab::unmade();
    lab.run("up", &["--workers", "1"]).ok();
    let cluster = Cluster { lab };
    cluster.check(&[gathered::CHECKS, clock::CHECKS, kills::CHECKS]);
}

/// A machine that cannot become a node at first.
#[test]
fn a_node_goes_on_when_the_fault_is_gone() {
    let _turn = turn();
    let cluster = Cluster::sealed(1, 0);
    cluster.bring(&cluster.sealed_dir(MASTER), MASTER);
    cluster.check(&[gathered::BEFORE, disk::BEFORE, names::CHECKS, disk::AFTER]);
}
