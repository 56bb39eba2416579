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
mod masters;
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
use masters::{
    ETCDCTL, MASTERS, NODES, WORKER, await_whole, bootstrap_with, lose_disks, members, message, ready_at, struck_at,
};
use support::{Cluster, TestLab, turn};

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
