//! What the runner does with steps that fail, wait, drift, depend on each other or are stopped.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use engine::{About, LedgerStore, Playbook, Progress, Report, State, Step, StepError, Verdict, codes};
use explain::Explain;
use host::{Change, Content, Disk, Host, RealDisk, create_dir_all, disk::model::ModelDisk, write_atomic};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::support::{
    STATE_DIR, runner_on,
    scripted::{Failure, Failures, Scripted, file},
    tree,
};

fn list(steps: Vec<(Scripted, &[&str])>) -> Playbook {
    steps.into_iter().fold(Playbook::new("test"), |list, (step, after)| list.step(step, after).unwrap())
}

fn files(id: &str) -> Scripted {
    Scripted::new(id, vec![file(format!("/etc/{id}"))])
}

fn failing(id: &str, failures: &[Failure]) -> Scripted {
    let failures: Failures = Arc::new(Mutex::new(failures.iter().copied().collect()));
    files(id).failing(&failures)
}

fn failed(report: &Report) -> Vec<(&str, &str)> {
    report.failed.iter().map(|failure| (failure.step.as_str(), failure.error.code().id)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_whole_stream_of_a_small_run() {
    let disk = ModelDisk::default();
    let (runner, recorder) = runner_on(&disk);
    let settles = AtomicU32::new(0);
    let settling = files("settling").judged(move |_| match settles.fetch_add(1, Ordering::Relaxed) {
        0..3 => Verdict::Waiting { what: "the dust to settle".into(), progress: String::new() },
        _ => Verdict::Met,
    });
    let playbook = || {
        list(vec![
            (files("plain"), &[]),
            (failing("stubborn", &[Failure::Retryable]), &["plain"]),
            (failing("broken", &[Failure::Fatal]), &["plain"]),
            (files("never"), &["broken"]),
        ])
    };
    let first = list(vec![(settling, &[])]);
    for playbook in [first, playbook()] {
        runner.run(&playbook).await.unwrap();
    }
    runner.run(&list(vec![(files("plain"), &[])])).await.unwrap();
    runner.undo(&playbook()).await.unwrap();
    let events = recorder.take();
    let lines: Vec<String> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let run = events[0].run.clone();
    insta::assert_snapshot!(lines.join("\n").replace(&run, "RUN"));
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_changes_nothing() {
    let disk = ModelDisk::default();
    create_dir_all(&disk, Path::new("/etc"), 0o755).unwrap();
    write_atomic(&disk, Path::new("/etc/there"), b"this is /etc/there\n", 0o644).unwrap();
    disk.fill(true); // a write would fail, and a failed write would show in the plan
    let before = (tree(&disk), disk.list(Path::new("/")).unwrap());
    let (runner, recorder) = runner_on(&disk);
    let playbook =
        list(vec![(files("there"), &[]), (files("new"), &["there"]), (files("later").until("/x"), &["new"])]);
    let plans = runner.plan(&playbook).await;
    let shown: Vec<_> = plans
        .iter()
        .map(|plan| (&*plan.about.id, plan.changes.as_ref().unwrap().len(), plan.after.join(" "), plan.waiting.clone()))
        .collect();
    let expected = [("there", 0, "", None), ("new", 1, "there", None), ("later", 1, "new", None)];
    assert_eq!(shown, expected.map(|(id, changes, after, waiting)| (id, changes, after.to_owned(), waiting)));
    assert_eq!((tree(&disk), disk.list(Path::new("/")).unwrap()), before);
    assert_eq!(recorder.take(), [], "a dry run is not a run");
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_says_what_would_be_waited_for() {
    let disk = ModelDisk::default();
    let (runner, _) = runner_on(&disk);
    let plans = runner.plan(&list(vec![(Scripted::new("wait", Vec::new()).until("/x"), &[])])).await;
    assert_eq!(plans[0].waiting.as_deref(), Some("/x"));
}

#[tokio::test(start_paused = true)]
async fn retries_back_off_and_end() {
    let disk = ModelDisk::default();
    let (runner, recorder) = runner_on(&disk);
    let tuning = runner.tuning;
    for (failures, verified) in [(1, true), (4, true), (5, false), (9, false)] {
        let playbook = list(vec![(failing(&format!("after-{failures}"), &vec![Failure::Retryable; failures]), &[])]);
        let begun = Instant::now();
        let report = runner.run(&playbook).await.unwrap();
        assert_eq!(report.is_complete(), verified, "{failures} failures");
        let retries = failures.min(tuning.attempts - 1);
        let states = recorder.states(&format!("after-{failures}"));
        assert_eq!(states.iter().filter(|state| **state == State::Retrying).count(), retries);
        assert_eq!(states.contains(&State::Failed), !verified);
        // Each pause is twice the one before, and jitter adds up to once again the first.
        let least: Duration = (0..retries).map(|retry| tuning.first_pause * 2_u32.pow(retry.try_into().unwrap())).sum();
        let took = begun.elapsed();
        assert!(least <= took && took < least * 3, "{failures} failures took {took:?}, expected {least:?} or more");
    }
    let report = runner.run(&list(vec![(failing("fatal", &[Failure::Fatal]), &[])])).await.unwrap();
    assert_eq!(failed(&report), [("fatal", host::codes::WRITE.id)]);
    assert!(!recorder.states("fatal").contains(&State::Retrying), "trying again would not help");
}

/// Waits forever; there is progress during the first `moving` of it.
fn waiting(id: &str, moving: Duration) -> Scripted {
    let begun = Instant::now();
    Scripted::new(id, Vec::new()).judged(move |_| {
        let progress = begun.elapsed().min(moving).as_secs().to_string();
        Verdict::Waiting { what: "the end of time".into(), progress }
    })
}

#[tokio::test(start_paused = true)]
async fn patience_lasts_as_long_as_there_is_progress() {
    let disk = ModelDisk::default();
    let (mut runner, _) = runner_on(&disk);
    runner.tuning.attempts = 1;
    for moving in [0, 30, 600] {
        let begun = Instant::now();
        let report = runner.run(&list(vec![(waiting("wait", Duration::from_secs(moving)), &[])])).await.unwrap();
        assert_eq!(failed(&report), [("wait", codes::NOT_IN_TIME.id)]);
        let took = begun.elapsed().as_secs();
        assert!((moving + 60..moving + 63).contains(&took), "moving for {moving} s, given up after {took} s");
        assert_eq!(report.failed[0].error.to_string(), "waited for the end of time; no progress for 60 s");
    }
}

#[tokio::test(start_paused = true)]
async fn steps_without_an_order_run_side_by_side() {
    let disk = ModelDisk::default();
    let (runner, _) = runner_on(&disk);
    let one = files("one").until("/etc/two");
    let two = files("two").until("/etc/one");
    let report = runner.run(&list(vec![(one, &[]), (two, &[])])).await.unwrap();
    assert!(report.is_complete(), "each waits for the other's effect: {:?}", failed(&report));
}

#[tokio::test(start_paused = true)]
async fn a_failure_stops_what_comes_after_it_and_nothing_else() {
    let disk = ModelDisk::default();
    let (runner, recorder) = runner_on(&disk);
    let playbook = list(vec![
        (failing("broken", &[Failure::Fatal]), &[]),
        (files("other"), &[]),
        (files("below"), &["broken", "other"]),
        (files("deep-below"), &["below"]),
        (files("beside"), &["other"]),
    ]);
    let report = runner.run(&playbook).await.unwrap();
    assert_eq!(report.verified, ["other", "beside"]);
    assert_eq!(report.blocked, ["below", "deep-below"]);
    assert_eq!(recorder.states("deep-below"), [State::Blocked]);
    assert!(!disk.exists(Path::new("/etc/below")).unwrap());

    let again = runner.run(&playbook).await.unwrap();
    assert!(again.is_complete());
    assert_eq!(again.changed, ["broken", "below", "deep-below"], "what was verified is left alone");
}

#[tokio::test(start_paused = true)]
async fn drift_is_repaired_and_the_original_is_still_known() {
    let disk = ModelDisk::default();
    create_dir_all(&disk, Path::new("/etc"), 0o755).unwrap();
    write_atomic(&disk, Path::new("/etc/file"), b"the user's", 0o600).unwrap();
    let untouched = tree(&disk);
    let (runner, _) = runner_on(&disk);
    let playbook = || list(vec![(files("file"), &[]), (files("still"), &[])]);
    runner.run(&playbook()).await.unwrap();
    let done = tree(&disk);

    write_atomic(&disk, Path::new("/etc/file"), b"somebody's", 0o666).unwrap();
    let report = runner.run(&playbook()).await.unwrap();
    assert_eq!((report.changed.as_slice(), report.verified.len()), (["file".to_owned()].as_slice(), 2));
    assert_eq!(tree(&disk), done);
    let record = LedgerStore::new(STATE_DIR).open(&disk).unwrap().ledger.steps["test/file"].clone();
    assert_eq!((record.progress, record.attempts), (Progress::Verified, 1));

    runner.undo(&playbook()).await.unwrap();
    let after: Vec<_> = tree(&disk).into_iter().filter(|(path, _)| path.starts_with("/etc")).collect();
    assert_eq!(after, untouched.into_iter().collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn two_playbooks_do_not_share_their_originals() {
    let disk = ModelDisk::default();
    create_dir_all(&disk, Path::new("/etc"), 0o755).unwrap();
    write_atomic(&disk, Path::new("/etc/file"), b"the user's", 0o644).unwrap();
    let (runner, _) = runner_on(&disk);
    let content = Content::Plain(b"of the other".to_vec());
    let other = Change::File { path: "/etc/file".into(), mode: 0o644, content };
    let one = Playbook::new("one").step(files("file"), &[]).unwrap();
    let two = Playbook::new("two").step(Scripted::new("file", vec![other]), &[]).unwrap();
    for playbook in [&one, &two] {
        assert!(runner.run(playbook).await.unwrap().is_complete());
    }
    for (playbook, content) in [(&two, "this is /etc/file\n"), (&one, "the user's")] {
        assert_eq!(runner.undo(playbook).await.unwrap().undone, ["file"]);
        assert_eq!(disk.read(Path::new("/etc/file")).unwrap(), content.as_bytes());
    }
}

/// Promises an effect and does not know how to make it.
struct Promise;

impl Step for Promise {
    type Seen = ();

    fn about(&self) -> About {
        About::new("promise", "Promise", "to break it")
    }

    async fn observe(&self, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }

    fn plan(&self, (): &()) -> Result<Vec<Change>, StepError> {
        Ok(vec![Change::Act { key: "moon".into(), what: "fetch the moon".into() }])
    }
}

#[tokio::test(start_paused = true)]
async fn an_effect_nobody_knows_how_to_make_is_an_error_both_ways() {
    let disk = ModelDisk::default();
    let (runner, _) = runner_on(&disk);
    let playbook = Playbook::new("test").step(Promise, &[]).unwrap();
    let report = runner.run(&playbook).await.unwrap();
    assert_eq!(failed(&report), [("promise", codes::NO_SUCH_ACTION.id)]);
    assert_eq!(report.failed[0].error.to_string(), "the step does not know how to apply `moon`");
    for playbook in [playbook, Playbook::new("test")] {
        let undone = runner.undo(&playbook).await.unwrap();
        assert_eq!(undone.failed[0].error.code(), codes::NO_SUCH_ACTION);
        assert!(LedgerStore::new(STATE_DIR).open(&disk).unwrap().ledger.steps.contains_key("test/promise"));
    }
}

#[tokio::test]
async fn a_link_in_place_of_a_file_is_refused_before_anything_is_recorded() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("etc")).unwrap();
    std::os::unix::fs::symlink("/dev/null", root.path().join("etc/link")).unwrap();
    let mut runner = runner_on(&ModelDisk::default()).0;
    runner.host.disk = Arc::new(RealDisk::new(root.path()));
    let playbook = || list(vec![(files("link"), &[])]);
    let report = runner.run(&playbook()).await.unwrap();
    assert_eq!(failed(&report), [("link", host::codes::NOT_A_FILE.id)]);
    assert_eq!(std::fs::read_link(root.path().join("etc/link")).unwrap(), Path::new("/dev/null"));
    let undone = runner.undo(&playbook()).await.unwrap();
    assert_eq!(undone.failed.len(), 0, "there is nothing to take back");
}

/// Takes its time for each change, and does something at the end of it.
struct Slow {
    about: About,
    wanted: Vec<Change>,
    takes: Duration,
    then: Box<dyn Fn() + Send + Sync>,
}

impl Slow {
    fn new(id: &'static str, changes: usize, takes: u64, then: impl Fn() + Send + Sync + 'static) -> Self {
        let wanted = (0..changes).map(|number| file(format!("/etc/{id}-{number}"))).collect();
        Self {
            about: About::new(id, id, "to be slow"),
            wanted,
            takes: Duration::from_secs(takes),
            then: Box::new(then),
        }
    }
}

impl Step for Slow {
    type Seen = Vec<Change>;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        Ok(Change::missing(self.wanted.clone(), &*host.disk)?)
    }

    fn plan(&self, seen: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(seen.clone())
    }

    async fn apply(&self, change: &Change, host: &Host) -> Result<(), StepError> {
        change.apply(&*host.disk)?;
        tokio::time::sleep(self.takes).await;
        (self.then)();
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn when_the_ledger_fails_the_changes_in_flight_are_completed_and_no_other_begins() {
    let disk = ModelDisk::default();
    let (runner, recorder) = runner_on(&disk);
    let completed = Arc::new(AtomicBool::new(false));
    let (flag, full) = (completed.clone(), disk.clone());
    let playbook = Playbook::new("test")
        .step(Slow::new("quick", 1, 1, move || full.fill(true)), &[])
        .and_then(|list| list.step(Slow::new("slow", 3, 5, move || flag.store(true, Ordering::Relaxed)), &[]))
        .and_then(|list| list.step(files("after"), &["quick"]))
        .unwrap();
    let error = runner.run(&playbook).await.unwrap_err();
    assert_eq!(error.code(), host::codes::DISK_FULL);
    assert!(completed.load(Ordering::Relaxed), "a change was torn in the middle");
    assert_eq!(recorder.states("slow"), [State::Started, State::Applying, State::Cancelled]);
    assert_eq!(recorder.states("after"), []);
    let last = recorder.take().pop().unwrap();
    assert_eq!((last.state, last.code), (State::RunFinished, Some(host::codes::DISK_FULL)));

    disk.fill(false);
    assert!(runner.run(&list(vec![(files("after"), &[])])).await.unwrap().is_complete(), "the lock is free again");
}

/// Whoever cancels is another task, and gets its turn only where the run gives it one.
#[tokio::test]
async fn a_step_that_only_writes_files_is_stopped_between_changes() {
    let disk = ModelDisk::default();
    let (mut runner, _) = runner_on(&disk);
    let many = || (0..40).map(|number| file(format!("/etc/{number:02}"))).collect();
    let playbook = || list(vec![(Scripted::new("many", many()), &[])]);
    let cancel_from_a_task = |cancel: CancellationToken| drop(tokio::spawn(async move { cancel.cancel() }));

    cancel_from_a_task(runner.cancel.clone());
    let report = runner.run(&playbook()).await.unwrap();
    assert!(report.cancelled && !disk.exists(Path::new("/etc/39")).unwrap(), "it ran to its end");

    runner.cancel = CancellationToken::new();
    assert!(runner.run(&playbook()).await.unwrap().is_complete());
    cancel_from_a_task(runner.cancel.clone());
    let report = runner.undo(&playbook()).await.unwrap();
    assert!(report.cancelled && disk.exists(Path::new("/etc/00")).unwrap(), "it took back everything");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_undo_says_so_and_goes_on_the_next_time() {
    let disk = ModelDisk::default();
    let (mut runner, recorder) = runner_on(&disk);
    let playbook = || list(vec![(files("one"), &[]), (files("two"), &["one"])]);
    runner.run(&playbook()).await.unwrap();
    recorder.take();
    runner.cancel.cancel();
    let report = runner.undo(&playbook()).await.unwrap();
    assert!(report.cancelled && report.undone.is_empty());
    assert_eq!(recorder.states("two"), [State::Cancelled]);
    assert!(disk.exists(Path::new("/etc/two")).unwrap());

    runner.cancel = CancellationToken::new();
    assert_eq!(runner.undo(&playbook()).await.unwrap().undone, ["two", "one"]);
    assert!(!disk.exists(Path::new("/etc")).unwrap());
}

#[tokio::test(start_paused = true)]
async fn what_is_settled_is_not_written_again() {
    let disk = ModelDisk::default();
    let (runner, _) = runner_on(&disk);
    let generation = || LedgerStore::new(STATE_DIR).open(&disk).unwrap().ledger.generation;
    let waits_a_bit = || {
        let looks = AtomicU32::new(0);
        files("file").judged(move |_| match looks.fetch_add(1, Ordering::Relaxed) {
            0..2 => Verdict::Waiting { what: "a bit".into(), progress: String::new() },
            _ => Verdict::Met,
        })
    };
    runner.run(&list(vec![(waits_a_bit(), &[])])).await.unwrap();
    let first = generation();
    runner.run(&list(vec![(waits_a_bit(), &[])])).await.unwrap();
    assert_eq!(generation(), first);
}

/// Knows what to change only when somebody else has spoken.
struct Follows(AtomicU32);

impl Step for Follows {
    type Seen = (bool, bool);

    fn about(&self) -> About {
        About::new("follows", "Follow", "what to do depends on somebody else")
    }

    async fn observe(&self, host: &Host) -> Result<(bool, bool), StepError> {
        let has_spoken = self.0.fetch_add(1, Ordering::Relaxed) >= 3;
        Ok((has_spoken, host.disk.exists(Path::new("/etc/follows"))?))
    }

    fn plan(&self, &(has_spoken, is_there): &(bool, bool)) -> Result<Vec<Change>, StepError> {
        Ok(if has_spoken && !is_there { vec![file("/etc/follows")] } else { Vec::new() })
    }

    fn judge(&self, &(has_spoken, _): &(bool, bool)) -> Verdict {
        if has_spoken {
            return Verdict::Met;
        }
        Verdict::Waiting { what: "somebody to speak".into(), progress: String::new() }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_to_be_changed_may_depend_on_what_is_waited_for() {
    let disk = ModelDisk::default();
    let (runner, recorder) = runner_on(&disk);
    let report = runner.run(&Playbook::new("test").step(Follows(AtomicU32::new(0)), &[]).unwrap()).await.unwrap();
    assert!(report.failed.is_empty() && disk.exists(Path::new("/etc/follows")).unwrap());
    let states: Vec<State> =
        recorder.take().iter().filter(|event| event.step.is_some()).map(|event| event.state).collect();
    assert_eq!(states, [State::Started, State::Waiting, State::Applying, State::Verified]);
}
