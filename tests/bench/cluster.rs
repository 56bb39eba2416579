//! How fast machines become a cluster, beside kubeadm on the same machines: `cargo xtask bench cluster`, as root.
//!
//! In each round both tools make a cluster of one master and one worker, each on machines that were made for it a moment
//! ago and are in the same state: components installed, containerd running, images imported. What is measured is seen
//! from outside, by the same client at the same interval: when the API server says that it is ready, and when a node is
//! Ready. After our run the same master starts etcd and the API server by hand: no tool can be faster than that.
//!
//! Then five machines: three masters and two workers, all switched on at the same moment by us, in kubeadm's own way by kubeadm.
//! And twenty workers that join at the same moment, beside one.
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
mod pivot;
mod report;
mod running;
mod starting_point;
mod steps;

use std::{fs, time::Duration};

use figures::Figures;
use kit::Kit;
use report::{PivotReport, Report};

const ROUNDS: usize = 5;
/// Of five machines and of twenty workers, which take long.
const LARGE_ROUNDS: usize = 2;
const MANY: u8 = 20;

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
    let wanted = argument("--only").unwrap_or_default();
    let is_wanted = |part: &str| wanted.is_empty() || wanted == part;
    if is_wanted("one") {
        one_master();
    }
    if is_wanted("five") {
        five_machines();
    }
    if is_wanted("many") {
        many_workers();
    }
    if wanted == "pivot" {
        bootstrap_node();
    }
}

fn five_machines() {
    println!("three masters, two workers; load before: {}", load());
    let kit = Kit::new();
    let (mut ours, mut theirs) = (Figures::default(), Figures::default());
    for round in 1..=rounds(LARGE_ROUNDS) {
        let (us, them) = (blackstart::all_at_once(3, 2).as_secs_f64(), kubeadm::all(&kit, 3, 2).as_secs_f64());
        println!("round {round}: five Ready nodes after {us:.1} s, kubeadm {them:.1} s");
        ours.add(us);
        theirs.add(them);
    }
    println!("load after: {}\n\n{}", load(), report::five(&ours, &theirs));
}

fn bootstrap_node() {
    println!(
        "a bootstrap node, three masters, one worker, beside three masters and a worker alone; load before: {}",
        load()
    );
    let mut report = PivotReport::default();
    for round in 1..=rounds(ROUNDS) {
        let (pivot, plain) = (pivot::round(), blackstart::all_at_once(3, 1).as_secs_f64());
        println!(
            "round {round}: complete after {:.1} s, the hand-over {:.1} s of them; plain bootstrap {plain:.1} s; {} of {} writes lost, \
             {:.1} s without one from {:.1} s on, {:.1} s without controllers",
            pivot.complete.as_secs_f64(),
            pivot.hand_over.as_secs_f64(),
            pivot.lost,
            pivot.writes,
            pivot.without_api,
            pivot.without_api_from,
            pivot.without_controllers,
        );
        println!("  seconds at which steps ended\n  {}", pivot.ended.join("\n  "));
        report.add(pivot, plain);
    }
    println!("load after: {}\n\n{report}", load());
}

fn many_workers() {
    println!("one worker, then {MANY} at the same moment; load before: {}", load());
    let (mut one, mut many) = (Figures::default(), Figures::default());
    for round in 1..=rounds(LARGE_ROUNDS) {
        let (single, all) =
            (blackstart::workers_at_once(1).as_secs_f64(), blackstart::workers_at_once(MANY).as_secs_f64());
        println!("round {round}: one after {single:.1} s, all {MANY} after {all:.1} s");
        one.add(single);
        many.add(all / f64::from(MANY));
    }
    println!("load after: {}\n\n{}", load(), report::many(&one, &many));
}

fn one_master() {
    let rounds = rounds(ROUNDS);
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
fn rounds(usually: usize) -> usize {
    let given = argument("--rounds").map(|number| number.parse().expect("a number after --rounds"));
    given.unwrap_or(usually).max(1)
}

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap().trim().to_owned()
}
