//! Breaks a real cluster in every way that `blackstart diagnose` knows, and looks whether it says so.
//!
//! `cargo test -p blackstart --test diagnose`, as root; plain `cargo test` leaves it out. One cluster of a master and a
//! worker serves all cases: each one breaks something, asks until it is told, mends it, and asks until all is well. To add a
//! case: its entry in the file of its side. `BLACKSTART_CASES=firewall` runs those whose name contains the word;
//! `BLACKSTART_CASES_LAB=NAME` breaks a lab that is there already, and leaves it there.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]

mod bench;
mod case;
mod cluster;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "shared with suites that need more of it")]
mod common;
mod machine;
mod up;

use std::{collections::BTreeSet, mem::ManuallyDrop, time::Instant};

use bench::Bench;
use case::{Case, MASTER};
use common::TestLab;

/// Every way to break a node, nearest to the machine first.
const CASES: &[&[Case]] = &[
    machine::SERVICES,
    machine::STORAGE,
    machine::IDENTITY,
    machine::NETWORK,
    machine::COMPONENTS,
    machine::BOOTSTRAP,
    cluster::CERTIFICATES,
    cluster::ETCD,
    cluster::API,
    cluster::JOINING,
    cluster::OBJECTS,
    cluster::PODS,
];

#[test]
fn whoever_breaks_a_node_is_told_what_they_did() {
    let _turn = common::turn();
    let bench = Bench::up();
    let wanted = std::env::var("BLACKSTART_CASES").unwrap_or_default();
    let cases: Vec<&Case> = CASES.iter().copied().flatten().filter(|case| case.name.contains(&wanted)).collect();
    let mut failed = Vec::new();
    for case in &cases {
        let started = Instant::now();
        let ended = case.run(&bench);
        let word = if ended.is_ok() { "told" } else { "FAILED" };
        eprintln!("{word:6} {} on {} ({:.1} s)", case.name, case.machine, started.elapsed().as_secs_f64());
        failed.extend(ended.err().map(|why| format!("{}: {why}", case.name)));
    }
    eprintln!("told {} of {}", cases.len() - failed.len(), cases.len());
    failed.extend(up::a_failure_is_explained(&bench).err());
    assert!(failed.is_empty() && !cases.is_empty(), "{}", failed.join("\n\n"));
}

/// On a machine that has its configuration and was never started there is one thing to say, and no other.
#[test]
fn where_nothing_was_started_only_that_is_told() {
    let _turn = common::turn();
    let bench = Bench { lab: ManuallyDrop::new(TestLab::with(1, 0)), is_borrowed: false };
    let config = bench.lab.dir().join("config").display().to_string();
    bench.lab.run("cp", &[&config, &format!("{MASTER}:/root")]).ok();
    bench.sh(MASTER, "rm -rf /etc/cluster-config; mv /root/config /etc/cluster-config");
    let answer = bench.ask(MASTER, "");
    assert_eq!(answer.codes("findings"), BTreeSet::from(["BS-DIAG-002".to_owned()]), "{answer}");
    assert_eq!(answer.codes("warnings"), BTreeSet::new(), "{answer}");
}
