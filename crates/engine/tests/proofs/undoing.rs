//! Undoing by a list of its own: in which order, what a failure leaves, and what is kept.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use engine::{LedgerStore, Notes, Planned, Playbook, StepError, StepId, Undo, UndoEntry, Undos, codes};
use host::{Host, disk::model::ModelDisk};

use crate::support::{
    STATE_DIR,
    lists::{list, nothing},
    runner_on,
    scripted::{Scripted, file},
    tree,
};

const MADE: StepId = StepId::new("made");

/// What was called, and which call is to fail.
#[derive(Default)]
struct Calls {
    made: Vec<String>,
    failing: Option<&'static str>,
    /// The key whose entry is kept.
    keeping: Option<&'static str>,
}

/// Notes that it was called.
struct Reported {
    step: &'static str,
    calls: Arc<Mutex<Calls>>,
}

impl Reported {
    fn call(&self, what: &str) -> Result<(), StepError> {
        let call = format!("{}: {what}", self.step);
        let mut calls = self.calls.lock().unwrap();
        calls.made.push(call.clone());
        match calls.failing {
            Some(failing) if call == failing => Err(StepError::new(codes::NOT_IN_TIME, "not now")),
            _ => Ok(()),
        }
    }
}

impl Undo for Reported {
    fn shows(&self) -> Vec<String> {
        vec![format!("stop {}", self.step)]
    }

    fn shows_act(&self, key: &str) -> Option<String> {
        (key != "hidden").then(|| format!("undo {key}"))
    }

    fn keeps(&self, key: &str) -> bool {
        self.calls.lock().unwrap().keeping == Some(key)
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        host.doing("stopping");
        self.call("before")?;
        Ok(vec![format!("{} was left elsewhere", self.step)])
    }

    async fn act(&self, key: &str, _host: &Host) -> Result<(), StepError> {
        self.call(key)
    }

    async fn after(&self, _host: &Host) -> Result<(), StepError> {
        self.call("after")
    }
}

fn act(key: &str) -> Planned {
    Planned::act(key, key)
}

/// `made` does something, `found` has nothing to do, `plain` is only files.
fn playbook() -> Playbook {
    let made = vec![act("hidden"), file("/etc/made").into(), act("spin")];
    list(vec![
        (Scripted::new("plain", vec![file("/etc/plain")]), &[]),
        (nothing("found"), &["plain"]),
        (Scripted::new("made", made), &["found"]),
    ])
}

fn undos(calls: &Arc<Mutex<Calls>>) -> Undos {
    let reported = |step| Reported { step, calls: calls.clone() };
    Undos::new("test").step(MADE, reported("made")).step(StepId::new("found"), reported("found"))
}

fn known(disk: &ModelDisk) -> Vec<String> {
    LedgerStore::new(STATE_DIR).open(disk).unwrap().ledger.steps.into_keys().collect()
}

#[tokio::test(start_paused = true)]
async fn each_step_is_framed_by_its_hooks_and_a_dry_run_shows_the_same() {
    let disk = ModelDisk::default();
    let (runner, recorder) = runner_on(&disk);
    runner.run(&playbook()).await.unwrap();
    let done = tree(&disk);
    recorder.take();
    let calls = Arc::default();
    let undos = undos(&calls);
    let plan = runner.plan_undo(&undos).unwrap();
    let shown: Vec<_> = plan.iter().map(|step| format!("{}: {}", step.step, step.shows.join(", "))).collect();
    assert_eq!(
        shown,
        [
            "made: stop made, undo spin, remove /etc/made",
            "found: stop found",
            "plain: remove /etc/plain, remove directory /etc if it is empty"
        ]
    );
    assert_eq!((tree(&disk), calls.lock().unwrap().made.len()), (done, 0), "nothing was changed");

    let report = runner.undo(&undos).await.unwrap();
    assert_eq!(report.undone, ["made", "found", "plain"]);
    assert_eq!(report.notes, ["made was left elsewhere", "found was left elsewhere"]);
    assert_eq!(
        calls.lock().unwrap().made,
        ["made: before", "made: spin", "made: hidden", "made: after", "found: before", "found: after"]
    );
    assert!(!tree(&disk).contains_key(Path::new("/etc")) && known(&disk).is_empty());
    let reported: Vec<String> = recorder.take().iter().map(|event| event.message().to_owned()).collect();
    assert!(
        reported.contains(&"stopping".to_owned()) && !reported.iter().any(|what| what.contains("hidden")),
        "{reported:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn whichever_call_fails_the_rest_goes_on_and_the_next_try_ends_it() {
    for failing in ["made: before", "made: spin", "made: hidden", "made: after", "found: before", "found: after"] {
        let disk = ModelDisk::default();
        let (runner, _) = runner_on(&disk);
        runner.run(&playbook()).await.unwrap();
        let calls = Arc::new(Mutex::new(Calls { failing: Some(failing), ..Calls::default() }));
        let report = runner.undo(&undos(&calls)).await.unwrap();
        assert_eq!(report.failed.len(), 1, "{failing}");
        let step = failing.split(':').next().unwrap();
        assert_eq!(known(&disk), [format!("test/{step}")], "{failing}: what could not be undone is remembered");
        let is_kept = tree(&disk).contains_key(Path::new("/etc/made"));
        assert_eq!(is_kept, failing == "made: before", "{failing}: nothing is pulled away under what does not stop");

        calls.lock().unwrap().failing = None;
        let report = runner.undo(&undos(&calls)).await.unwrap();
        assert!(report.failed.is_empty() && report.undone == [step], "{failing}: {report:?}");
        assert!(known(&disk).is_empty() && !tree(&disk).contains_key(Path::new("/etc/made")), "{failing}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_neither_touched_nor_forgotten() {
    let disk = ModelDisk::default();
    let (runner, _) = runner_on(&disk);
    runner.run(&playbook()).await.unwrap();
    let calls = Arc::default();
    let report = runner.undo(&undos(&calls).keeping(&[MADE])).await.unwrap();
    assert_eq!((report.kept, report.undone), (vec!["made".to_owned()], vec!["found".to_owned(), "plain".to_owned()]));
    assert_eq!(calls.lock().unwrap().made, ["found: before", "found: after"]);
    assert!(tree(&disk).contains_key(Path::new("/etc/made")) && !tree(&disk).contains_key(Path::new("/etc/plain")));
    let report = runner.undo(&undos(&calls)).await.unwrap();
    assert_eq!(report.undone, ["made"], "later it can still be undone");
    assert!(known(&disk).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_is_partly_kept_is_remembered_and_is_no_failure() {
    let disk = ModelDisk::default();
    let (runner, _) = runner_on(&disk);
    runner.run(&playbook()).await.unwrap();
    let calls = Arc::new(Mutex::new(Calls { keeping: Some("spin"), ..Calls::default() }));
    let report = runner.undo(&undos(&calls)).await.unwrap();
    assert_eq!((report.kept, report.failed.len()), (vec!["made".to_owned()], 0));
    let ledger = LedgerStore::new(STATE_DIR).open(&disk).unwrap().ledger;
    assert_eq!(ledger.steps["test/made"].undo, [UndoEntry::Act { key: "spin".into() }]);
    calls.lock().unwrap().keeping = None;
    assert_eq!(runner.undo(&undos(&calls)).await.unwrap().undone, ["made"]);
    assert!(known(&disk).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_step_that_no_playbook_has_any_more_loses_its_files_only() {
    let disk = ModelDisk::default();
    let (runner, _) = runner_on(&disk);
    runner.run(&playbook()).await.unwrap();
    let report = runner.undo(&Undos::new("test")).await.unwrap();
    assert_eq!(report.failed.len(), 2, "one for each key: {report:?}");
    assert!(!tree(&disk).contains_key(Path::new("/etc/made")));
    assert_eq!(known(&disk), ["test/made"]);
}

/// Stops something, on a machine that runs.
struct OnlyLive(Reported);

impl Undo for OnlyLive {
    const ONLY_LIVE: bool = true;

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        self.0.before(host).await
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        self.0.act(key, host).await
    }

    async fn after(&self, host: &Host) -> Result<(), StepError> {
        self.0.after(host).await
    }
}

#[tokio::test(start_paused = true)]
async fn in_an_image_there_is_nothing_to_stop() {
    for (is_live, calls_made) in [(true, 4), (false, 0)] {
        let disk = ModelDisk::default();
        let (mut runner, _) = runner_on(&disk);
        runner.host.is_live = is_live;
        runner.run(&playbook()).await.unwrap();
        let calls = Arc::default();
        let undo = OnlyLive(Reported { step: "made", calls: Arc::clone(&calls) });
        let report = runner.undo(&Undos::new("test").step(MADE, undo)).await.unwrap();
        assert_eq!((report.undone.len(), calls.lock().unwrap().made.len()), (3, calls_made), "{report:?}");
    }
}
