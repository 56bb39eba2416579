//! A run that is stopped, or has to stop: between changes, and never in the middle of one.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use engine::{About, FilesOnly, Planned, Playbook, State, Step, StepError, StepId};
use explain::Explain;
use host::{Change, Disk, Host, disk::model::ModelDisk};
use tokio_util::sync::CancellationToken;

use crate::support::{
    lists::{files, ids, list, undos},
    runner_on,
    scripted::{Scripted, file},
};

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
            about: About::new(StepId::new(id), id, "to be slow"),
            wanted,
            takes: Duration::from_secs(takes),
            then: Box::new(then),
        }
    }
}

impl Step for Slow {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        Ok(Change::missing(self.wanted.clone(), &*host.disk)?)
    }

    fn plan(&self, seen: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(seen.clone())
    }

    async fn apply(&self, planned: &Planned, host: &Host) -> Result<(), StepError> {
        let Planned::File(change) = planned else { return Ok(()) };
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
    let playbook = Playbook::never_undone("test")
        .step(Slow::new("quick", 1, 1, move || full.fill(true)), &[])
        .step(Slow::new("slow", 3, 5, move || flag.store(true, Ordering::Relaxed)), &[])
        .step(files("after"), &ids(&["quick"]))
        .build()
        .unwrap();
    let error = runner.run(&playbook).await.unwrap_err();
    assert_eq!(error.code(), host::codes::DISK_FULL);
    assert!(completed.load(Ordering::Relaxed), "a change was torn in the middle");
    assert_eq!(recorder.states("slow"), [State::Started, State::Applying, State::Cancelled]);
    assert_eq!(recorder.states("after"), []);
    let last = recorder.take().pop().unwrap();
    assert_eq!((last.state, last.error().map(|error| error.code)), (State::RunFinished, Some(host::codes::DISK_FULL)));

    disk.fill(false);
    assert!(runner.run(&list(vec![(files("after"), &[])])).await.unwrap().is_complete(), "the lock is free again");
}

/// The canceller is another task, and gets its turn only where the run gives it one.
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
    let report = runner.undo(&undos()).await.unwrap();
    assert!(report.cancelled && disk.exists(Path::new("/etc/00")).unwrap(), "it undid everything");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_undo_says_so_and_goes_on_the_next_time() {
    let disk = ModelDisk::default();
    let (mut runner, recorder) = runner_on(&disk);
    let playbook = || list(vec![(files("one"), &[]), (files("two"), &["one"])]);
    runner.run(&playbook()).await.unwrap();
    recorder.take();
    runner.cancel.cancel();
    let report = runner.undo(&undos()).await.unwrap();
    assert!(report.cancelled && report.undone.is_empty());
    assert_eq!(recorder.states("two"), [State::Cancelled]);
    assert!(disk.exists(Path::new("/etc/two")).unwrap());

    runner.cancel = CancellationToken::new();
    assert_eq!(runner.undo(&undos()).await.unwrap().undone, ["two", "one"]);
    assert!(!disk.exists(Path::new("/etc")).unwrap());
}
