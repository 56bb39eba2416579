//! How fast machines become a cluster, beside kubeadm on the same machines: `cargo xtask bench cluster`, as root.
//!
//! In each round both tools make a cluster of one master and one worker, each on machines that were made for it a moment
//! ago and are in the same state: components installed, containerd running, images imported. What is measured is seen
//! from outside, by the same client at the same interval: when the API server says that it is ready, and when a node is
//! Ready. After our run the same master starts etcd and the API server by hand: nobody can be faster than that.
//!
//! Nothing here is a test: figures of a computer that does something else at the same time say little.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a round that fails is no measurement")]
#![expect(clippy::print_stdout, reason = "a program for people who measure")]

mod blackstart;
mod figures;
mod floor;
mod kit;
mod kubeadm;
mod machines;
mod outside;
mod report;
mod running;
mod starting_point;
mod steps;

use std::{fs, time::Duration};

use kit::Kit;
use report::Report;

const ROUNDS: usize = 5;

/// What both tools are measured by, each from the start of the command.
pub(crate) struct Times {
    /// The first master's API server says that it is ready.
    pub(crate) api: Duration,
    /// The first master is a Ready node.
    pub(crate) master: Duration,
    /// A worker is a Ready node; its control plane was there before.
    pub(crate) worker: Duration,
}

fn main() {
    let rounds = rounds();
    let build = if cfg!(debug_assertions) { "a development build, which is slower" } else { "a release build" };
    println!("one master, one worker, {build}; rounds: {rounds}; load before: {}", load());
    let kit = Kit::new();
    let mut report = Report::default();
    for round in 1..=rounds {
        let ours = blackstart::round();
        let theirs = kubeadm::round(&kit);
        println!(
            "round {round}: master Ready after {:.1} s, kubeadm {:.1} s; worker {:.1} s, kubeadm {:.1} s",
            ours.times.master.as_secs_f64(),
            theirs.master.as_secs_f64(),
            ours.times.worker.as_secs_f64(),
            theirs.worker.as_secs_f64(),
        );
        report.add(ours, &theirs);
    }
    println!("load after: {}\n\n{report}", load());
}

/// How often everything is measured: `--rounds N`. Other arguments are cargo's.
fn rounds() -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--rounds").skip(1);
    let given = arguments.next().map(|number| number.parse().expect("a number after --rounds"));
    given.unwrap_or(ROUNDS).max(1)
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap().trim().to_owned()
}
