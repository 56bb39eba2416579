//! What was there before: repaired after drift, known for undoing, never followed through a link, never promised in vain.

use std::{path::Path, sync::Arc};

use engine::{About, LedgerStore, Planned, Playbook, Progress, Stays, Step, StepError, StepId, Undos, codes};
use explain::Explain;
use host::{Change, Content, Disk, Host, RealDisk, create_dir_all, disk::model::ModelDisk, write_atomic};

use crate::support::{
    STATE_DIR,
    lists::{failed, files, list, undos},
    runner_on,
    scripted::Scripted,
    tree,
};

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

    write_atomic(&disk, Path::new("/etc/file"), b"drifted", 0o666).unwrap();
    let report = runner.run(&playbook()).await.unwrap();
    assert_eq!((report.changed.as_slice(), report.verified.len()), (["file".to_owned()].as_slice(), 2));
    assert_eq!(tree(&disk), done);
    let record = LedgerStore::new(STATE_DIR).open(&disk).unwrap().ledger.steps["test/file"].clone();
    assert_eq!((record.progress, record.attempts), (Progress::Verified, 1));

    runner.undo(&undos()).await.unwrap();
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
    let one = Playbook::never_undone("one").step(files("file"), &[]).build().unwrap();
    let two = Playbook::never_undone("two").step(Scripted::new("file", vec![other]), &[]).build().unwrap();
    for playbook in [&one, &two] {
        assert!(runner.run(playbook).await.unwrap().is_complete());
    }
    for (playbook, content) in [("two", "this is /etc/file\n"), ("one", "the user's")] {
        assert_eq!(runner.undo(&Undos::new(playbook)).await.unwrap().undone, ["file"]);
        assert_eq!(disk.read(Path::new("/etc/file")).unwrap(), content.as_bytes());
    }
}

/// Promises an effect and does not know how to make it.
struct Promise;

impl Step for Promise {
    type Seen = ();
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(StepId::new("promise"), "Promise", "to break it")
    }

    async fn observe(&self, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }

    fn plan(&self, (): &()) -> Result<Vec<Planned>, StepError> {
        Ok(vec![Planned::act("moon", "fetch the moon")])
    }
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_no_step_can_make_is_an_error_both_ways() {
    let disk = ModelDisk::default();
    let (runner, _) = runner_on(&disk);
    let playbook = Playbook::never_undone("test").step(Promise, &[]).build().unwrap();
    let report = runner.run(&playbook).await.unwrap();
    assert_eq!(failed(&report), [("promise", codes::NO_SUCH_ACTION.id)]);
    assert_eq!(report.failed[0].error.to_string(), "the step does not know how to apply `moon`");
    for _ in 0..2 {
        let undone = runner.undo(&undos()).await.unwrap();
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
    let undone = runner.undo(&undos()).await.unwrap();
    assert_eq!(undone.failed.len(), 0, "there is nothing to undo");
}
