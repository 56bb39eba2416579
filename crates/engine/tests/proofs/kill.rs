//! `kill -9` at every point of a run and of an undo.
//!
//! The survivor is killed right before and right after each operation on its disk, reads included. That covers every
//! instant that matters: before the record, between record and effect, between effect and verification, before and
//! after each ledger write. Then it is run again, undisturbed, and must end where it would have ended anyway.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use engine::{Ledger, Progress};
use host::Disk;
use nix::sys::signal::Signal;

use crate::support::{
    STATE_DIR,
    patient::{Ended, Machine},
    tree,
};

type Tree = BTreeMap<PathBuf, String>;

const STEPS: usize = 14;

/// What an undisturbed run needs and leaves.
struct Undisturbed {
    fresh: Tree,
    finished: Machine,
    final_tree: Tree,
    operations: usize,
}

fn undisturbed() -> Undisturbed {
    let machine = Machine::new();
    let fresh = tree(&machine.disk());
    let ended = machine.run(&["machine", "run"]);
    assert!(ended.status.success(), "{}", ended.stderr);
    let final_tree = tree(&machine.disk());
    assert_complete(&machine);
    Undisturbed { fresh, final_tree, operations: ended.operations(), finished: machine }
}

/// All steps are verified, each effect was made once, and nothing of a crash is left in the state directory.
fn assert_complete(machine: &Machine) {
    let ledger = machine.ledger();
    assert_eq!(ledger.steps.len(), STEPS);
    assert!(ledger.steps.values().all(|record| record.progress == Progress::Verified), "{ledger:#?}");
    assert_eq!(machine.effects(), ["apply enable", "apply start"]);
    let names = machine.disk().list(Path::new(STATE_DIR)).unwrap();
    assert_eq!(names, ["ledger.json", "ledger.prev.json", "lock", "originals"]);
}

/// The machine is as it was before the first run.
fn assert_taken_back(machine: &Machine, fresh: &Tree) {
    assert_eq!(tree(&machine.disk()), *fresh);
    assert_eq!(machine.ledger().steps, BTreeMap::new());
    let applied = machine.effects().iter().filter(|line| line.starts_with("apply")).count();
    assert_eq!(machine.effects().len(), 2 * applied, "an effect is still there");
    assert!(!machine.disk().exists(&Path::new(STATE_DIR).join("originals")).unwrap(), "originals are left");
}

fn killed(machine: &Machine, arguments: &[&str]) -> Ended {
    let ended = machine.run(arguments);
    assert_eq!(ended.status.signal(), Some(Signal::SIGKILL as i32), "not killed: {}", ended.stderr);
    ended
}

/// Runs to the end; what the ledger calls verified must not be touched.
fn run_again(machine: &Machine) {
    let verified: BTreeSet<String> = machine.ledger().steps.into_iter().filter_map(verified_step).collect();
    let ended = machine.run(&["machine", "run"]);
    assert!(ended.status.success(), "{}", ended.stderr);
    for step in ended.steps_reported("applying") {
        assert!(!verified.contains(step), "`{step}` was verified and is applied again");
    }
}

fn verified_step((key, record): (String, engine::StepRecord)) -> Option<String> {
    let step = key.strip_prefix(&Ledger::key("machine", "")).map(str::to_owned);
    step.filter(|_| record.progress == Progress::Verified)
}

/// Tries all points, a few at a time, and reports how many the machine recovered from.
fn recovers_from_all(what: &str, points: &[String], recover: impl Fn(&str) + Sync) {
    let next = AtomicUsize::new(0);
    let lost = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| recover(point)));
                    if tried.is_err() {
                        lost.lock().unwrap().push(point.clone());
                    }
                }
            });
        }
    });
    let lost = lost.into_inner().unwrap();
    let reported = format!("{what}: recovered {} of {}\n", points.len() - lost.len(), points.len());
    // Not with a macro: the number is to be seen also when the test passes.
    std::io::stderr().write_all(reported.as_bytes()).unwrap();
    assert_eq!(lost, [""; 0], "{what}: not recovered from a kill at these points");
}

fn before_and_after(operations: impl Iterator<Item = usize>) -> Vec<String> {
    operations.flat_map(|number| [format!("before:{number}"), format!("after:{number}")]).collect()
}

#[test]
fn a_run_killed_anywhere_ends_where_it_would_have_ended() {
    let undisturbed = undisturbed();
    assert!(undisturbed.operations > 300, "{} operations: is the disk still counting?", undisturbed.operations);
    let points = before_and_after(1..=undisturbed.operations);
    recovers_from_all("killed while running", &points, |point| {
        let machine = Machine::new();
        killed(&machine, &["machine", "run", point]);
        run_again(&machine);
        assert_eq!(tree(&machine.disk()), undisturbed.final_tree);
        assert_complete(&machine);
    });
}

#[test]
fn a_run_killed_twice_ends_where_it_would_have_ended() {
    let undisturbed = undisturbed();
    let firsts = before_and_after((1..=undisturbed.operations).step_by(41));
    recovers_from_all("killed while running, and while running again", &firsts, |first| {
        for second in [2, 11, 29, 47] {
            let machine = Machine::new();
            killed(&machine, &["machine", "run", first]);
            machine.run(&["machine", "run", &format!("after:{second}")]);
            run_again(&machine);
            assert_eq!(tree(&machine.disk()), undisturbed.final_tree);
            assert_complete(&machine);
        }
    });
}

#[test]
fn a_run_killed_anywhere_can_be_taken_back() {
    let undisturbed = undisturbed();
    let points = before_and_after((1..=undisturbed.operations).step_by(5));
    recovers_from_all("killed while running, then undone", &points, |point| {
        let machine = Machine::new();
        killed(&machine, &["machine", "run", point]);
        assert!(machine.run(&["machine", "undo"]).status.success());
        assert_taken_back(&machine, &undisturbed.fresh);
    });
}

#[test]
fn an_undo_killed_anywhere_can_be_completed() {
    let undisturbed = undisturbed();
    let machine = undisturbed.finished.copy();
    let ended = machine.run(&["machine", "undo"]);
    assert!(ended.status.success(), "{}", ended.stderr);
    assert_taken_back(&machine, &undisturbed.fresh);
    let points = before_and_after(1..=ended.operations());
    recovers_from_all("killed while undoing", &points, |point| {
        let machine = undisturbed.finished.copy();
        killed(&machine, &["machine", "undo", point]);
        assert!(machine.run(&["machine", "undo"]).status.success());
        assert_taken_back(&machine, &undisturbed.fresh);
    });
}
