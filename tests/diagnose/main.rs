//! Breaks a real cluster in every way that `blackstart diagnose` knows, and looks whether it says so.
//!
//! `cargo test -p blackstart --test diagnose`, as root; plain `cargo test` leaves it out. One cluster of a master and a
//! worker serves all cases: each one breaks something, asks until it is told, mends it, and asks until all is well. To add a
//! case: its entry in the file of its side. `BLACKSTART_CASES=firewall` runs those whose name contains the word.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many cases says which one it is at")]

mod bench;
mod case;
mod cluster;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "shared with suites that need more of it")]
mod common;
mod machine;

use std::time::Instant;

use bench::Bench;
use case::Case;

/// Every way to break a node, nearest to the machine first.
const CASES: &[&[Case]] = &[
    machine::CASES,
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
    assert!(failed.is_empty() && !cases.is_empty(), "{}", failed.join("\n\n"));
}
