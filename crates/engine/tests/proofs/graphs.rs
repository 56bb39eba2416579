//! Random graphs of steps, with random failures, kills, power cuts, cancellations and full disks.
//!
//! What must hold whatever happens: a step starts only after all before it are verified; a verified step is left alone
//! unless it drifted; a failing step blocks exactly its descendants; the end is that of an undisturbed run; undo goes in
//! reverse, takes away what is ours, puts back what stood there before, and stays done.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use engine::{Event, Ledger, LedgerStore, Playbook, Report, Sink, State, Undos};
use host::{Change, Content, create_dir_all, disk::model::ModelDisk, write_atomic};
use proptest::{collection::vec, prelude::*};
use tokio_util::sync::CancellationToken;

use crate::support::{
    Recorder, STATE_DIR,
    lists::ids,
    runner_on,
    scripted::{Failure, Failures, Scripted, file},
    tree,
};

/// One step of a random graph.
#[derive(Debug, Clone)]
struct Node {
    /// Steps above it that come first.
    after: Vec<usize>,
    files: usize,
    /// Whether one of its files replaces one of the user's.
    replaces: bool,
    failures: Vec<Failure>,
}

/// What happens to a run.
#[derive(Debug, Clone)]
enum Disturbance {
    /// The process is killed after that many operations.
    Kill { after: usize },
    /// The power goes after that many operations, and what was not synced is left to chance.
    PowerCut { after: usize, chance: u64 },
    /// The run is stopped after that many events.
    Cancel { after: usize },
    /// The disk is full after that many operations, until the run has ended.
    Full { after: usize },
}

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let failure = prop_oneof![Just(Failure::Retryable), Just(Failure::Fatal)];
    let node = (any::<u16>(), any::<u16>(), 1_usize..=3, any::<bool>(), vec(failure, 0..3));
    vec(node, 1..=12).prop_map(|drawn| {
        let node = |(index, (one, two, files, replaces, failures))| {
            let edges: u16 = one & two; // a quarter of all possible edges
            let after = (0..index).filter(|above| edges >> above & 1 == 1).collect();
            Node { after, files, replaces, failures }
        };
        drawn.into_iter().enumerate().map(node).collect()
    })
}

fn disturbances() -> impl Strategy<Value = Vec<Disturbance>> {
    let operations = 0_usize..400;
    vec(
        prop_oneof![
            operations.clone().prop_map(|after| Disturbance::Kill { after }),
            (operations.clone(), any::<u64>()).prop_map(|(after, chance)| Disturbance::PowerCut { after, chance }),
            (0_usize..40).prop_map(|after| Disturbance::Cancel { after }),
            operations.prop_map(|after| Disturbance::Full { after }),
        ],
        0..5,
    )
}

fn id(index: usize) -> String {
    format!("step-{index:02}")
}

fn wanted(index: usize, node: &Node) -> Vec<Change> {
    let directory = PathBuf::from(format!("/data/{index}"));
    let mut wanted = vec![Change::Directory { path: directory.clone(), mode: 0o700 }, file(format!("/shared/{index}"))];
    wanted.extend((1..node.files).map(|number| file(directory.join(number.to_string()))));
    if node.replaces {
        let content = Content::Secret(format!("ours {index}").into_bytes());
        wanted.push(Change::File { path: format!("/etc/user-{index}").into(), mode: 0o600, content });
    }
    wanted
}

fn playbook(nodes: &[Node], failures: &[Failures]) -> Playbook {
    let list = nodes.iter().enumerate().fold(Playbook::never_undone("graph"), |list, (index, node)| {
        let above: Vec<String> = node.after.iter().map(|above| id(*above)).collect();
        list.step(Scripted::new(id(index), wanted(index, node)).failing(&failures[index]), &ids(&above))
    });
    list.build().unwrap()
}

/// A machine on which the user has some files already.
fn fresh(nodes: &[Node]) -> ModelDisk {
    let disk = ModelDisk::default();
    for dir in ["/etc", "/var/lib"] {
        create_dir_all(&disk, Path::new(dir), 0o755).unwrap();
    }
    for index in 0..nodes.len() {
        let path = PathBuf::from(format!("/etc/user-{index}"));
        write_atomic(&disk, &path, format!("the user's {index}").as_bytes(), 0o640).unwrap();
    }
    disk
}

fn ledger_on(disk: &ModelDisk) -> Ledger {
    let opened = LedgerStore::new(STATE_DIR).open(disk).unwrap();
    assert_eq!(opened.recovered, None, "the ledger was damaged");
    opened.ledger
}

/// Steps filed as verified, and those among them that drifted.
fn verified_and_drifted(nodes: &[Node], disk: &ModelDisk) -> (BTreeSet<String>, BTreeSet<String>) {
    let ledger = ledger_on(disk);
    let all = nodes.iter().enumerate().filter(|(index, _)| ledger.is_verified(&Ledger::key("graph", &id(*index))));
    let verified: Vec<usize> = all.map(|(index, _)| index).collect();
    let drifted = |index: &&usize| !Change::missing(wanted(**index, &nodes[**index]), disk).unwrap().is_empty();
    (
        verified.iter().map(|index| id(*index)).collect(),
        verified.iter().filter(drifted).map(|index| id(*index)).collect(),
    )
}

/// Asks to stop after enough events.
struct StopAfter(CancellationToken, u64);

impl Sink for StopAfter {
    fn event(&self, event: &Event) {
        if event.sequence > self.1 {
            self.0.cancel();
        }
    }
}

/// The world between two runs.
struct World {
    nodes: Vec<Node>,
    failures: Vec<Failures>,
    disk: ModelDisk,
    /// A killed process may have left something that is seen but not durable.
    killed: bool,
}

impl World {
    fn new(nodes: Vec<Node>) -> Self {
        let failures = nodes.iter().map(|node| Arc::new(Mutex::new(node.failures.clone().into()))).collect();
        Self { disk: fresh(&nodes), nodes, failures, killed: false }
    }

    /// Lets something happen to a run, or to an undo, and leaves the disk as the next process will find it.
    fn disturb(&mut self, disturbance: &Disturbance, undo: bool) {
        let (mut runner, recorder) = runner_on(&self.disk);
        let before = self.disk.restart();
        match *disturbance {
            Disturbance::Kill { after } | Disturbance::PowerCut { after, .. } => self.disk.cut_after(after),
            Disturbance::Full { after } => self.disk.fill_after(after),
            Disturbance::Cancel { after } => {
                runner.sinks.push(Arc::new(StopAfter(runner.cancel.clone(), after as u64)));
            }
        }
        // Whether it got to its end is not the question here; what it did on the way is.
        if undo {
            let _ = block_on(runner.undo(&Undos::new("graph")));
        } else {
            let _ = block_on(runner.run(&playbook(&self.nodes, &self.failures)));
            self.check_events(&before, &recorder);
        }
        match *disturbance {
            Disturbance::Kill { .. } => {
                self.disk = self.disk.restart();
                self.killed = true;
            }
            Disturbance::PowerCut { mut chance, .. } => {
                self.disk = self.disk.crash(&mut |of| {
                    chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    usize::try_from(chance >> 33).unwrap() % of
                });
                let (_, drifted) = verified_and_drifted(&self.nodes, &self.disk);
                assert!(undo || self.killed || drifted.is_empty(), "verified, and lost by a power cut: {drifted:?}");
                self.killed = false;
            }
            Disturbance::Full { .. } => self.disk.fill(false),
            Disturbance::Cancel { .. } => {}
        }
    }

    /// Checks the events of a run against what stood on the disk before it.
    fn check_events(&self, before: &ModelDisk, recorder: &Recorder) {
        let (verified, drifted) = verified_and_drifted(&self.nodes, before);
        let mut kept = BTreeSet::new();
        for event in recorder.take() {
            let Some(step) = event.step else { continue };
            let node = self.nodes.iter().enumerate().find(|(index, _)| id(*index) == step).unwrap().1;
            match event.state {
                State::Started => assert!(
                    node.after.iter().all(|above| kept.contains(&id(*above))),
                    "{step} started before those above it were verified"
                ),
                State::Applying => assert!(
                    !verified.contains(&step) || drifted.contains(&step),
                    "{step} was verified and is applied again"
                ),
                State::Verified | State::Unchanged => drop(kept.insert(step)),
                _ => {}
            }
        }
    }

    /// Runs undisturbed, as often as the failures that were ordered make it necessary.
    fn run_to_the_end(&self) {
        let ordered: usize = self.nodes.iter().map(|node| node.failures.len()).sum();
        for _ in 0..=ordered {
            let (runner, recorder) = runner_on(&self.disk);
            let before = self.disk.restart();
            let report = block_on(runner.run(&playbook(&self.nodes, &self.failures))).unwrap();
            self.check_events(&before, &recorder);
            self.check_blocked(&report);
            if report.is_complete() {
                return;
            }
        }
        panic!("not complete after {ordered} failures were spent");
    }

    fn check_blocked(&self, report: &Report) {
        let failed: BTreeSet<String> = report.failed.iter().map(|failure| failure.step.clone()).collect();
        let mut out = failed.clone();
        for (index, node) in self.nodes.iter().enumerate() {
            if node.after.iter().any(|above| out.contains(&id(*above))) {
                out.insert(id(index));
            }
        }
        let blocked: BTreeSet<String> = report.blocked.iter().cloned().collect();
        assert_eq!(blocked, &out - &failed, "a failing step blocks exactly its descendants");
        assert_eq!(report.verified.len() + out.len(), self.nodes.len(), "all others are verified");
    }

    /// Undoes it undisturbed, and checks the order.
    fn undo_to_the_end(&self) {
        let by_start: BTreeMap<u64, String> =
            ledger_on(&self.disk).steps.into_iter().map(|(key, record)| (record.sequence, key)).collect();
        let expected: Vec<String> = by_start.into_values().rev().map(|key| key["graph/".len()..].to_owned()).collect();
        let report = block_on(runner_on(&self.disk).0.undo(&Undos::new("graph"))).unwrap();
        assert_eq!(report.failed.iter().map(|failure| failure.error.to_string()).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(report.undone, expected, "undo is not in reverse");
        for (position, step) in report.undone.iter().enumerate() {
            let index = (0..self.nodes.len()).find(|index| id(*index) == *step).unwrap();
            for above in &self.nodes[index].after {
                assert!(!report.undone[..position].contains(&id(*above)), "{} before {step}", id(*above));
            }
        }
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_end_is_the_same(
        nodes in nodes(),
        while_running in disturbances(),
        runs_to_the_end in prop::bool::weighted(0.7),
        while_undoing in disturbances(),
    ) {
        let untouched = tree(&fresh(&nodes));
        let undisturbed = World::new(nodes.iter().map(|node| Node { failures: Vec::new(), ..node.clone() }).collect());
        undisturbed.run_to_the_end();

        let mut world = World::new(nodes);
        for disturbance in &while_running {
            world.disturb(disturbance, false);
        }
        if runs_to_the_end {
            world.run_to_the_end();
            prop_assert_eq!(tree(&world.disk), tree(&undisturbed.disk), "the end is another one");
        }
        for disturbance in &while_undoing {
            world.disturb(disturbance, true);
        }
        world.undo_to_the_end();
        prop_assert_eq!(tree(&world.disk), untouched.clone(), "undo left or lost something");
        for chance in [0, 1] {
            let after = world.disk.crash(&mut |of| chance.min(of - 1));
            prop_assert_eq!(tree(&after), untouched.clone(), "undo did not survive a power cut");
        }
    }
}
