//! Records of made-up runs, and of files as a reader may find them. No machine is needed.

use std::{path::Path, sync::Arc};

use engine::{Event, Sink, State};
use explain::{Code, Diagnostic, Message};
use host::{Disk, RealDisk};
use jiff::{SignedDuration, Timestamp};

use super::{
    Outcome, Process, Purpose, RecordError, RecordKeeper, RunRecord, StepState, Waiting, apply::Origin,
    store::make_room,
};

const STATE: &str = "/var/lib/cluster-state";

fn at(millis: i64) -> Timestamp {
    let start: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
    start + SignedDuration::from_millis(millis)
}

fn event(millis: i64, step: &str, state: State, attempt: u32, message: &str, code: Option<Code>) -> Event {
    Event {
        v: engine::EVENT_SCHEMA_VERSION,
        sequence: 1,
        time: at(millis),
        run: "20261115T120000Z-7".into(),
        node: "master-01".into(),
        playbook: "cluster".into(),
        step: (!step.is_empty()).then(|| step.to_owned()),
        state,
        attempt,
        done: 0,
        total: 3,
        text: code.map_or_else(|| Message::text(message), |code| Message::Error(Diagnostic::new(code, message))),
    }
}

fn say(millis: i64, step: &str, state: State, message: &str) -> Event {
    event(millis, step, state, 1, message, None)
}

fn wrong(millis: i64, step: &str, state: State, attempt: u32, message: &str) -> Event {
    event(millis, step, state, attempt, message, Some(engine::codes::NOT_IN_TIME))
}

fn record(events: &[Event]) -> RunRecord {
    let origin = Origin { purpose: Purpose::Up, boot_id: "b1".into(), process: Process { pid: 7, began: 100 } };
    let mut record = RunRecord::begun(&origin, &events[0]);
    events[1..].iter().for_each(|event| record.apply(event));
    record
}

/// A step that waits and fails once, one that is quick, one that is never tried.
fn small_run() -> Vec<Event> {
    let finished = |mut event: Event, done| {
        event.done = done;
        event
    };
    vec![
        say(0, "", State::RunStarted, "3 steps"),
        say(10, "pki", State::Started, "Issue the certificates"),
        say(11, "etcd", State::Started, "Start etcd"),
        say(20, "pki", State::Applying, "write /etc/kubernetes/pki/ca.crt"),
        finished(say(40, "pki", State::Verified, "Issue the certificates"), 1),
        say(50, "etcd", State::Applying, "start etcd.service"),
        say(60, "etcd", State::Waiting, "etcd.service to run"),
        say(90, "etcd", State::Waiting, "etcd to answer on port 2379"),
        wrong(60_060, "etcd", State::Retrying, 1, "waited for etcd to answer on port 2379; no progress for 60 s"),
        event(61_000, "etcd", State::Started, 2, "Start etcd", None),
        event(61_010, "etcd", State::Started, 2, "looking at /var/lib/etcd", None),
        event(61_020, "etcd", State::Waiting, 2, "etcd to answer on port 2379", None),
        wrong(121_000, "etcd", State::Failed, 2, "waited for etcd to answer on port 2379; no progress for 60 s"),
        finished(say(121_001, "api", State::Blocked, "a step before it failed"), 1),
        finished(say(121_002, "", State::RunFinished, "1 verified, 1 of them changed, 1 failed, 1 not tried"), 1),
    ]
}

#[test]
fn everything_a_run_reports_is_in_its_record() {
    let mut record = record(&small_run());
    record.version = "0.0.0".into();
    insta::assert_json_snapshot!(record);
}

#[test]
fn at_every_moment_it_says_what_is_waited_for() {
    let events = small_run();
    let mut text = String::new();
    for until in 1..=events.len() {
        let record = record(&events[..until]);
        let waiting = record.waiting();
        let since = |w: &Waiting<'_>| format!("{} since +{}", w.step, w.since.duration_since(at(0)).as_millis());
        let waiting: Vec<String> = waiting.iter().map(since).collect();
        text += &format!("{:?} [{}] {}\n", record.outcome, waiting.join(", "), record.message());
    }
    insta::assert_snapshot!(text);
}

#[test]
fn how_runs_end() {
    let start = || say(0, "", State::RunStarted, "1 step");
    let end = |done, total| Event { done, total, ..say(9, "", State::RunFinished, "the end") };
    let step = |state| say(5, "x", state, "x");
    for (case, events, expected) in [
        ("nothing heard", vec![start()], Outcome::Working),
        ("all verified", vec![start(), step(State::Verified), end(1, 1)], Outcome::Done),
        ("one failed", vec![start(), wrong(5, "x", State::Failed, 1, "no"), end(0, 1)], Outcome::Failed),
        ("stopped in a step", vec![start(), step(State::Cancelled), end(0, 1)], Outcome::Cancelled),
        ("stopped between steps", vec![start(), step(State::Verified), end(1, 2)], Outcome::Cancelled),
        ("all undone", vec![start(), step(State::Undoing), step(State::Undone), end(1, 1)], Outcome::Done),
        (
            "something could not be undone",
            vec![
                start(),
                step(State::Undoing),
                wrong(6, "x", State::UndoFailed, 1, "busy"),
                step(State::Undoing),
                end(0, 1),
            ],
            Outcome::Failed,
        ),
        (
            "the ledger broke",
            vec![start(), step(State::Started), Event { done: 0, ..wrong(9, "", State::RunFinished, 0, "no space") }],
            Outcome::Failed,
        ),
    ] {
        let record = record(&events);
        assert_eq!(record.outcome, expected, "{case}");
        let open = record.steps.iter().filter(|step| !step.state.is_end() || step.ended.is_none());
        assert_eq!(open.count(), 0, "{case}: after the end no step is left open");
        assert_eq!(record.cause().is_some(), expected == Outcome::Failed, "{case}");
    }
}

#[test]
fn what_could_not_be_taken_back_stays_so() {
    let record = record(&[
        say(0, "", State::RunStarted, "1 step to undo"),
        say(1, "x", State::Undoing, "remove /a"),
        wrong(2, "x", State::UndoFailed, 1, "cannot remove /a"),
        say(3, "x", State::Undoing, "remove /b"),
    ]);
    let step = &record.steps[0];
    assert_eq!((step.state, step.doing.as_deref()), (StepState::NotUndone, Some("remove /b")));
    assert_eq!(step.error().unwrap().diagnostic.message, "cannot remove /a");
}

#[test]
fn a_crash_loop_does_not_fill_the_record() {
    let mut events = vec![say(0, "", State::RunStarted, "1 step"), say(1, "x", State::Started, "Start x")];
    events.extend((2..1000).map(|n| say(n, "x", State::Waiting, &format!("x to run, started {n} times again"))));
    let record = record(&events);
    let waiting = record.waiting()[0];
    assert_eq!(record.steps[0].waits.len(), 64);
    assert_eq!((waiting.what, waiting.since), ("x to run, started 999 times again", at(2)));
}

fn disk() -> (tempfile::TempDir, Arc<dyn Disk>) {
    let dir = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new(dir.path()));
    (dir, disk)
}

#[test]
fn a_run_is_on_disk_when_it_has_ended() {
    let (_dir, disk) = disk();
    let keeper = RecordKeeper::new(&disk, Path::new(STATE), Purpose::Up);
    assert_eq!(RunRecord::latest(&*disk, Path::new(STATE)).unwrap(), None);
    for event in small_run() {
        keeper.event(&event);
    }
    keeper.never_began("cluster", Diagnostic::new(engine::codes::NOT_IN_TIME, "not now"), at(0));
    keeper.finish();
    let kept = RunRecord::latest(&*disk, Path::new(STATE)).unwrap().unwrap();
    assert_eq!((kept.outcome, kept.steps.len(), kept.process.pid), (Outcome::Failed, 3, std::process::id()));
    assert_eq!(disk.list(&Path::new(STATE).join("runs")).unwrap(), ["20261115T120000Z-7.json"]);
}

#[test]
fn a_run_that_never_began_is_kept_with_the_reason() {
    let (_dir, disk) = disk();
    let keeper = RecordKeeper::new(&disk, Path::new(STATE), Purpose::Detect);
    keeper.never_began("cluster", Diagnostic::new(engine::codes::NOT_IN_TIME, "not now"), at(0));
    drop(keeper);
    let kept = RunRecord::latest_for(Purpose::Detect, &*disk, Path::new(STATE)).unwrap().unwrap();
    assert_eq!(kept.message(), "BS-ENGINE-002: not now");
    assert_eq!(RunRecord::latest_for(Purpose::Up, &*disk, Path::new(STATE)).unwrap(), None);
}

#[test]
fn twenty_runs_are_kept_and_the_newest_is_found() {
    let (_dir, disk) = disk();
    let state = Path::new(STATE);
    let kept = |run: String, purpose, started| RunRecord { run, purpose, started, ..record(&small_run()) };
    for second in 0..30 {
        make_room(&*disk, state, at(second * 1000)).unwrap();
        kept(format!("20261115T1200{second:02}Z-7"), Purpose::Up, at(second * 1000)).write(&*disk, state).unwrap();
    }
    // Within one second a higher number may be an older run.
    kept("20261115T120029Z-1234".into(), Purpose::Detect, at(29_500)).write(&*disk, state).unwrap();
    disk.create(&state.join("runs/20261115T120031Z-9.json"), b"", 0o644).unwrap();
    disk.create(&state.join("runs/20261115T120032Z-9.json"), br#"{"v":9}"#, 0o644).unwrap();

    let all: Vec<String> = RunRecord::all(&*disk, state).unwrap().into_iter().map(|record| record.run).collect();
    assert_eq!((all.len(), all[0].as_str()), (21, "20261115T120029Z-1234"));
    assert_eq!(all.last().unwrap(), "20261115T120010Z-7");
    let latest = |purpose| RunRecord::latest_for(purpose, &*disk, state).unwrap().unwrap().run;
    assert_eq!(latest(Purpose::Up), "20261115T120029Z-7");
    assert_eq!(RunRecord::latest(&*disk, state).unwrap().unwrap().run, "20261115T120029Z-1234");
    let read = |run| RunRecord::read(&*disk, state, run);
    assert!(matches!(read("20261115T120031Z-9"), Err(RecordError::Form { .. })));
    assert!(matches!(read("20261115T120032Z-9"), Err(RecordError::Version { found: 9, .. })));
    assert!(matches!(read("20261115T120099Z-9"), Ok(None)));
}

#[test]
fn a_run_of_a_clock_that_was_ahead_does_not_hide_what_comes() {
    let (_dir, disk) = disk();
    let state = Path::new(STATE);
    make_room(&*disk, state, at(0)).unwrap();
    for (run, millis) in [("20261115T120030Z-5", 30_000), ("20261116T120000Z-6", 86_400_000)] {
        RunRecord { run: run.into(), started: at(millis), ..record(&small_run()) }.write(&*disk, state).unwrap();
    }
    let keeper = RecordKeeper::new(&disk, state, Purpose::Up);
    for event in small_run() {
        keeper.event(&event);
    }
    keeper.finish();
    let all: Vec<String> = RunRecord::all(&*disk, state).unwrap().into_iter().map(|record| record.run).collect();
    assert_eq!(all, ["20261115T120030Z-5", "20261115T120000Z-7"], "only what is far ahead is gone");
}

#[test]
fn a_run_whose_process_or_boot_is_gone_was_interrupted() {
    let (_dir, disk) = disk();
    let stat = |began| format!("7 (blackstart) S 1 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 {began} 1 2 3");
    let write = |path: &str, text: &str| host::write_atomic(&*disk, Path::new(path), text.as_bytes(), 0o644).unwrap();
    for dir in ["/proc/7", "/proc/sys/kernel/random"] {
        host::create_dir_all(&*disk, Path::new(dir), 0o755).unwrap();
    }
    let working = record(&small_run()[..5]);
    for (case, boot, began, expected) in [
        ("it goes on", "b1", 100, Outcome::Working),
        ("its number is another process now", "b1", 101, Outcome::Interrupted),
        ("the machine has booted since", "b2", 100, Outcome::Interrupted),
    ] {
        write("/proc/sys/kernel/random/boot_id", &format!("{boot}\n"));
        write("/proc/7/stat", &stat(began));
        assert_eq!(working.outcome_seen_by(&*disk), expected, "{case}");
    }
    assert_eq!(record(&small_run()).outcome_seen_by(&*disk), Outcome::Failed, "what has ended has ended");
}
