//! Real clusters on real machines: that they work, come back, and let no stranger in.
//!
//! `cargo test --workspace --test cluster`, as root; plain `cargo test` leaves it out. Making a cluster is what takes
//! time, so checks share clusters: a test here is one cluster with a list of checks, each of them run also when one
//! before it has failed. To add a check: a function in the file of its theme, and its line in the list there. To make only
//! some: `CHECKS='timeline|says so' cargo test …`, with parts of their names.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod again;
mod calico;
mod hardened;
mod hostile;
mod kubeadm;
mod late;
mod networked;
mod refused;
mod renewed;
mod status;
#[expect(unused_imports, reason = "shared with suites that need more of it")]
mod support;
mod unsealed;
mod watch;
mod works;

use support::{Cluster, TestLab, turn};

/// What `lab up` makes by default, and what becomes of it.
#[test]
fn three_machines_are_a_cluster_and_stay_one() {
    let _turn = turn();
    let cluster = Cluster::up();
    cluster.check(&[
        works::CHECKS,
        status::CHECKS,
        hardened::CHECKS,
        again::CHECKS,
        renewed::CHECKS,
        networked::CHECKS,
    ]);
}

/// Machines that become nodes one after the other, the worker first.
#[test]
fn only_who_belongs_gets_in() {
    let _turn = turn();
    let cluster = Cluster::sealed(1, 2);
    cluster.check(&[
        status::BEFORE,
        late::CHECKS,
        watch::BEFORE_JOINING,
        refused::CHECKS,
        hostile::CHECKS,
        watch::CHECKS,
    ]);
}

/// The less secure way, and the way of others.
#[test]
fn a_token_in_the_file_and_a_machine_that_is_not() {
    let _turn = turn();
    let cluster = Cluster { lab: TestLab::with(1, 2) };
    cluster.check(&[unsealed::CHECKS, kubeadm::CHECKS]);
}
