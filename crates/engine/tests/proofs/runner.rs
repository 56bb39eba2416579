//! What the runner does with steps that fail or depend on each other, and which events it emits.

use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use engine::{About, FilesOnly, Playbook, State, Step, StepError, StepId, Verdict, codes};
use host::{Disk, Host, create_dir_all, disk::model::ModelDisk, write_atomic};

use crate::support::{
    lists::{failed, failing, files, list, nothing, undos},
    runner_on,
    scripted::Failure,
    tree,
};

#[tokio::test(start_paused = true)]
async fn the_whole_stream_of_a_small_run() {
    let disk = ModelDisk::default();
    let (runner, recorder) = runner_on(&disk);
    let checks = AtomicU32::new(0);
    let converging = files("converging").evaluated(move |_| match checks.fetch_add(1, Ordering::Relaxed) {
        0..3 => Verdict::Waiting { what: "it to converge".into(), progress: String::new() },
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
    let first = list(vec![(converging, &[])]);
    for playbook in [first, playbook()] {
        runner.run(&playbook).await.unwrap();
    }
    runner.run(&list(vec![(files("plain"), &[])])).await.unwrap();
    runner.undo(&undos()).await.unwrap();
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
        .map(|plan| {
            (plan.about.id.as_str(), plan.changes.as_ref().unwrap().len(), plan.after.join(" "), plan.waiting.clone())
        })
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
    let plans = runner.plan(&list(vec![(nothing("wait").until("/x"), &[])])).await;
    assert_eq!(plans[0].waiting.as_deref(), Some("/x"));
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

/// Sees what is not there in an image.
struct OnlyLive;

impl Step for OnlyLive {
    type Seen = ();
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(StepId::new("only-live"), "Look", "to see")
    }

    async fn observe(&self, _host: &Host) -> Result<(), StepError> {
        Err(StepError::new(codes::NOT_IN_TIME, "looked"))
    }
}

#[tokio::test(start_paused = true)]
async fn in_an_image_what_needs_a_machine_that_runs_is_done() {
    for is_live in [true, false] {
        let (mut runner, _) = runner_on(&ModelDisk::default());
        runner.host.is_live = is_live;
        let playbook = Playbook::never_undone("test").step(OnlyLive, &[]).build().unwrap();
        assert_eq!(runner.plan(&playbook).await[0].changes.is_err(), is_live);
        assert_eq!(runner.run(&playbook).await.unwrap().is_complete(), !is_live);
    }
}
