//! Ceph on three real machines, each of which is a master, a monitor, a manager and an OSD.
//!
//! `cargo test --workspace --test ceph`, as root; plain `cargo test` leaves it out. `CHECKS='part|part'` makes only the
//! checks whose names hold one of these, `BLACKSTART_CEPH_LAB=NAME` on a lab that is there already and stays. To add one:
//! a function in the file of its theme, and its line in the list there.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod asked;
#[path = "../diagnose/bench.rs"]
#[expect(dead_code, reason = "shared with the suite that breaks everything else")]
mod bench;
#[path = "../diagnose/case.rs"]
#[expect(dead_code, reason = "shared with the suite that breaks everything else")]
mod case;
#[path = "../support/cases.rs"]
mod cases;
mod diagnosed;
mod healthy;
mod killed;
mod packaged;
mod refused;
mod removed;
mod storage;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;
mod survives;

use std::mem::ManuallyDrop;

use cases::in_turn;
use support::{self as common, Cluster, TestLab, turn};

/// All of them are everything.
const MACHINES: [&str; 3] = ["master-01", "master-02", "master-03"];
/// The one that bootstraps where there is a choice, and that waits for all.
const FIRST: &str = MACHINES[0];
/// The one that things happen to.
const LAST: &str = MACHINES[2];

#[test]
fn three_machines_are_a_ceph_cluster() {
    let _turn = turn();
    let borrowed = std::env::var("BLACKSTART_CEPH_LAB").ok();
    let is_borrowed = borrowed.is_some();
    let lab = borrowed.map_or_else(TestLab::unmade, |name| TestLab { name });
    lab.run("up", &["--ceph"]).ok();
    let cluster = ManuallyDrop::new(Cluster { lab });
    let checks = || {
        cluster.check(&[
            healthy::CHECKS,
            asked::CHECKS,
            &in_turn(survives::CHECKS, 2),
            diagnosed::CHECKS,
            refused::CHECKS,
            killed::CHECKS,
            removed::CHECKS,
        ]);
    };
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(checks));
    if !is_borrowed {
        drop(ManuallyDrop::into_inner(cluster));
    }
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}
