//! Breaks real clusters in every way that `blackstart diagnose` knows, and looks whether it says so.
//!
//! `cargo test --workspace --test diagnose`, as root; plain `cargo test` leaves it out. One cluster of a master and a
//! worker, one of three masters, and one that a bootstrap node begins ([`pivot`]) serve all cases: each one breaks something, asks until it is reported, fixes it, and asks
//! until all is well. To add a case: its entry in the file of its theme. Every second theme is played with one kind of commits and
//! the others with the other, all of them with `BLACKSTART_TEST_FULL=1`; `BLACKSTART_CASES=firewall` runs those whose name contains
//! the word; `BLACKSTART_CASES_LAB=NAME`, `BLACKSTART_CASES_MASTERS_LAB=NAME` and `BLACKSTART_CASES_PIVOT_LAB=NAME` break labs that are there already,
//! and leave them there.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many cases says how each of them ended")]

#[macro_use]
mod tools;

mod api;
mod bench;
mod case;
mod certificates;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "shared with suites that need more of it")]
mod common;
mod etcd;
mod in_place;
mod joining;
mod machine;
mod masters;
mod objects;
mod pivot;
mod pods;
mod up;

use std::{collections::BTreeSet, mem::ManuallyDrop, time::Instant};

use bench::Bench;
use case::{Case, MASTER, WORKER};
use common::TestLab;

/// Every way to break a node, nearest to the machine first.
const CASES: &[&[Case]] = &[
    machine::SERVICES,
    machine::STORAGE,
    machine::IDENTITY,
    machine::NETWORK,
    machine::COMPONENTS,
    machine::BOOTSTRAP,
    certificates::CERTIFICATES,
    etcd::ETCD,
    api::API,
    joining::JOINING,
    objects::OBJECTS,
    pods::PODS,
    in_place::IN_PLACE,
];

/// The same of a bootstrap node and of what it leaves behind, in the order in which it comes and goes.
const PIVOT: &[&[Case]] = &[
    pivot::holds::HOLDS,
    pivot::holds::SLOW,
    pivot::takes_over::AWAITS,
    pivot::takes_over::CUT_OFF,
    pivot::left::LEFT,
    &[pivot::left::SECOND],
];

#[test]
fn what_breaks_a_node_is_diagnosed() {
    let cases = chosen(&of_the_seed());
    if cases.is_empty() {
        return;
    }
    let _turn = common::turn();
    let bench = Bench::up("BLACKSTART_CASES_LAB", &[MASTER, WORKER]);
    let mut failed = play(&cases, &bench);
    failed.extend(up::a_failure_is_explained(&bench).err());
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn masters_report_what_is_wrong_with_etcd() {
    let cases = chosen(&[masters::MASTERS]);
    if cases.is_empty() {
        return;
    }
    let _turn = common::turn();
    let bench = Bench::up("BLACKSTART_CASES_MASTERS_LAB", &masters::NAMES);
    masters::no_master_is_warned(&bench);
    let failed = play(&cases, &bench);
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn a_bootstrap_node_is_diagnosed() {
    let chosen = |cases: Vec<&'static Case>| -> Vec<&'static Case> {
        cases.into_iter().filter(|case| is_wanted(case)).collect()
    };
    let holds = chosen(pivot::of_the_seed(pivot::holds::HOLDS));
    let slow = chosen(if pivot::is_full() { pivot::holds::SLOW.iter().collect() } else { Vec::new() });
    let of_masters = || PIVOT.iter().skip(2).copied().flatten().filter(|case| is_wanted(case)).count();
    if holds.is_empty() && slow.is_empty() && of_masters() == 0 {
        return;
    }
    let _turn = common::turn();
    let stage = pivot::Stage::waiting_for_masters("BLACKSTART_CASES_PIVOT_LAB");
    let mut failed = play(&holds, &stage.bench);
    failed.extend(play(&slow, &stage.bench));
    if pivot::is_full() && of_masters() > 0 {
        failed.extend(play(&chosen(pivot::takes_over::AWAITS.iter().collect()), &stage.bench));
        pivot::takes_over::cut_off(&stage);
        failed.extend(play(&pivot::takes_over::CUT_OFF.iter().collect::<Vec<_>>(), &stage.bench));
        pivot::takes_over::goes_on(&stage);
        failed.extend(play(&chosen(pivot::left::LEFT.iter().collect()), &stage.bench));
        pivot::left::comes_again(&stage);
        failed.extend(play(&[&pivot::left::SECOND], &stage.bench));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// The themes whose turn it is; those of another commit with its number in `BLACKSTART_TEST_SEED`.
fn of_the_seed() -> Vec<&'static [Case]> {
    let is_for_all = |name| std::env::var_os(name).is_some();
    if ["BLACKSTART_TEST_FULL", "BLACKSTART_CASES"].into_iter().any(is_for_all) {
        return CASES.to_vec();
    }
    CASES.iter().copied().skip(usize::from(!common::seed().is_multiple_of(2))).step_by(2).collect()
}

/// The cases whose name contains the word in the environment; without one, all.
fn chosen(lists: &[&'static [Case]]) -> Vec<&'static Case> {
    let mut known = CASES.iter().chain([&masters::MASTERS]).chain(PIVOT).copied().flatten();
    assert!(known.any(is_wanted), "no case has the word of BLACKSTART_CASES in its name");
    lists.iter().copied().flatten().filter(|case| is_wanted(case)).collect()
}

fn is_wanted(case: &Case) -> bool {
    case.name.contains(&std::env::var("BLACKSTART_CASES").unwrap_or_default())
}

/// Plays one case after the other, and prints which failed and why.
fn play(cases: &[&Case], bench: &Bench) -> Vec<String> {
    let mut failed = Vec::new();
    for case in cases {
        let started = Instant::now();
        let ended = case.run(bench);
        let word = if ended.is_ok() { "diagnosed" } else { "FAILED" };
        eprintln!("{word:6} {} on {} ({:.1} s)", case.name, case.machine, started.elapsed().as_secs_f64());
        failed.extend(ended.err().map(|why| format!("{}: {why}", case.name)));
    }
    eprintln!("diagnosed {} of {}", cases.len() - failed.len(), cases.len());
    failed
}

/// On a machine that has its configuration and was never started there is one thing to say, and no other.
#[test]
fn where_nothing_was_started_only_that_is_reported() {
    let _turn = common::turn();
    let bench = Bench { lab: ManuallyDrop::new(TestLab::with(1, 0)), is_borrowed: false };
    let config = bench.lab.dir().join("config").display().to_string();
    bench.lab.run("cp", &[&config, &format!("{MASTER}:/root")]).ok();
    bench.sh(MASTER, "rm -rf /etc/cluster-config; mv /root/config /etc/cluster-config");
    let answer = bench.ask(MASTER, "");
    assert_eq!(answer.codes("findings"), BTreeSet::from(["BS-DIAG-002".to_owned()]), "{answer}");
    assert_eq!(answer.codes("warnings"), BTreeSet::new(), "{answer}");
}
