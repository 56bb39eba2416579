//! Killed at every step, and what it comes to.
//!
//! `cargo test --workspace --test recovery`, as root; plain `cargo test` leaves it out. One undisturbed run shows
//! which steps there are and what a node is like in the end. Then, each on a machine that has never run us, the run is
//! stopped at one instant of one step (`crates/fault`), by SIGKILL or by cutting the machine's power,
//! and goes on by itself. The machine must end as the undisturbed one: same files, units, processes, objects; and another
//! run must find nothing to change.
//!
//! A few cases, which the seed chooses, unless others are asked for:
//! - `BLACKSTART_RECOVERY=full` plays all of them (`cargo xtask test --full` says so), `=12` plays twelve;
//! - `BLACKSTART_TEST_SEED=N` chooses those of another commit again;
//! - `BLACKSTART_RECOVERY_ONLY=PATTERN` chooses among those whose name it matches: `^etcd .*SIGKILL`, `within`.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many cases says which one it is at")]

mod cases;
mod fingerprint;
mod proving;
#[expect(dead_code, reason = "other suites need more of it")]
#[path = "../support/mod.rs"]
mod support;

use std::env;

use cases::Case;
use proving::Ground;
use regex::Regex;
use support::{seed, turn};

/// Of each kind of node, when not all of them are played.
const SAMPLE: usize = 2;

#[test]
fn the_first_master_recovers() {
    if !is_turn(0) {
        return;
    }
    let _turn = turn();
    prove("first master", &Ground::first_master(), SAMPLE);
}

#[test]
fn a_worker_recovers() {
    if !is_turn(1) {
        return;
    }
    let _turn = turn();
    prove("worker", &Ground::worker(), SAMPLE);
}

#[test]
fn an_additional_master_recovers() {
    if !is_turn(2) {
        return;
    }
    let _turn = turn();
    // Its steps are mostly those of the first one.
    prove("additional master", &Ground::additional_master(), SAMPLE / 2);
}

/// Each kind of node takes minutes before its first case: one of them with each commit, unless cases are asked for.
fn is_turn(kind_of_three: u64) -> bool {
    let is_asked = |name: &str| env::var_os(format!("BLACKSTART_RECOVERY{name}")).is_some();
    is_asked("") || is_asked("_ONLY") || seed() % 3 == kind_of_three
}

fn prove(kind: &str, ground: &Ground, sample: usize) {
    let reference = ground.reference();
    fingerprint::assert_complete(&reference.fingerprint);
    let all = cases::all(&cases::instants(&reference.events));
    assert!(all.len() > 40, "an undisturbed run reports its steps: {:#?}", reference.events);
    let chosen = chosen(&all, sample);
    assert!(
        !chosen.is_empty(),
        "no case is called that; there are: {}",
        all.iter().map(|case| format!("\n{case}")).collect::<String>()
    );
    eprintln!("{kind}: {} of {} cases", chosen.len(), all.len());
    let (mut recovered, mut failed) = (0, Vec::new());
    for case in &chosen {
        match ground.play(case, &reference) {
            Ok(Some(played)) => {
                recovered += 1;
                eprintln!(
                    "{kind}: {case} (at `{}`): recovered ({:.1} s, {:.1} s to stop it)",
                    played.at, played.whole, played.until_hit
                );
            }
            Ok(None) => eprintln!("{kind}: {case}: there was nothing to wait for this time"),
            Err(why) => {
                eprintln!("{kind}: {case}: FAILED\n{why}");
                failed.push(case.to_string());
            }
        }
    }
    eprintln!("{kind}: recovered {recovered} of {}", recovered + failed.len());
    assert!(failed.is_empty(), "did not recover, see above: {failed:#?}");
}

fn chosen(all: &[Case], sample: usize) -> Vec<Case> {
    let asked = |name: &str| env::var(format!("BLACKSTART_RECOVERY{name}")).ok();
    let only = Regex::new(&asked("_ONLY").unwrap_or_default()).expect("BLACKSTART_RECOVERY_ONLY is a pattern");
    let all: Vec<Case> = all.iter().filter(|case| only.is_match(&case.to_string())).cloned().collect();
    let count = match asked("").as_deref() {
        Some("full") => return all,
        Some(count) => count.parse().expect("BLACKSTART_RECOVERY is `full` or a number"),
        None => sample,
    };
    // Each list has its turn with one seed of three: only what is left of the seed chooses among its cases.
    cases::sample(&all, count, seed() / 3)
}
