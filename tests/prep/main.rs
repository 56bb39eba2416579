//! Nodes that are prepared from inside the cluster, for volumes by iSCSI and for transcoding: the manifests of
//! `infrastructure/node-bootstrap` on real machines with real apt, and what happens to them.
//!
//! `cargo test --workspace --test prep`, as root; plain `cargo test` leaves it out. `CHECKS='part|part'` makes only the
//! checks whose names hold one of these, `BLACKSTART_PREP_LAB=NAME` on a lab that is there already and stays. To add one:
//! a function in the file of its theme, and its line in the list there.
//!
//! The kernel of these machines has no iSCSI. So the best that a node can come to here is `incapable`: everything is
//! installed and set up, and it is reported that volumes will not attach. What needs such a kernel is proved elsewhere, in a
//! machine with one.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod applied;
#[path = "../support/cases.rs"]
#[expect(dead_code, reason = "shared with suites that need more of it")]
mod cases;
mod dnf;
mod faults;
mod joined;
mod manifests;
mod many;
mod node;
mod pods;
mod reported;
mod schemas;
mod stock_kernel;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;
mod turns;
mod undone;

use std::mem::ManuallyDrop;

use support::{Check, Cluster, TestLab, turn};

/// The only master. Nothing is done to it.
const MASTER: &str = "master-01";
/// What things happen to.
const WORKER: &str = "worker-01";
/// It boots with the others and becomes a node much later.
const LATER: &str = "worker-02";

#[test]
fn nodes_are_prepared_from_inside_the_cluster() {
    check(
        made,
        &[
            manifests::CHECKS,
            applied::CHECKS,
            turns::BROKEN,
            joined::CHECKS,
            reported::CHECKS,
            turns::CHECKS,
            &faults::checks(),
            undone::CHECKS,
        ],
    );
}

/// Makes checks on a cluster that is made for them, or on the one that the environment names.
fn check(make: fn() -> Cluster, lists: &[&[Check]]) {
    let _turn = turn();
    let borrowed = std::env::var("BLACKSTART_PREP_LAB").ok();
    let is_borrowed = borrowed.is_some();
    let cluster = ManuallyDrop::new(borrowed.map_or_else(make, |name| Cluster { lab: TestLab { name } }));
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| cluster.check(lists)));
    if !is_borrowed {
        drop(ManuallyDrop::into_inner(cluster));
    }
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// A master and a worker that are nodes, and a machine that is none yet.
fn made() -> Cluster {
    let cluster = Cluster::sealed(1, 2);
    for machine in [MASTER, WORKER] {
        cluster.install(&cluster.sealed_dir(machine), machine);
    }
    cluster.await_ready(&[MASTER, WORKER]);
    cluster
}
