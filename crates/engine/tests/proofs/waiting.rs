//! How long the runner tries again and waits, and what may depend on what is waited for.

use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use engine::{About, FilesOnly, LedgerStore, Playbook, State, Step, StepError, StepId, Verdict, codes};
use host::{Change, Disk, Host, disk::model::ModelDisk};
use tokio::time::Instant;

use crate::support::{
    STATE_DIR,
    lists::{failed, failing, files, list, nothing},
    runner_on,
    scripted::{Failure, Scripted, file},
};

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
    nothing(id).evaluated(move |_| {
        let progress = begun.elapsed().min(moving).as_secs().to_string();
        Verdict::Waiting { what: "the end of time".into(), progress }
    })
}

#[tokio::test(start_paused = true)]
async fn deadline_lasts_as_long_as_there_is_progress() {
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
async fn what_is_verified_is_not_written_again() {
    let disk = ModelDisk::default();
    let (runner, _) = runner_on(&disk);
    let generation = || LedgerStore::new(STATE_DIR).open(&disk).unwrap().ledger.generation;
    let waits_a_bit = || {
        let checks = AtomicU32::new(0);
        files("file").evaluated(move |_| match checks.fetch_add(1, Ordering::Relaxed) {
            0..2 => Verdict::Waiting { what: "a bit".into(), progress: String::new() },
            _ => Verdict::Met,
        })
    };
    runner.run(&list(vec![(waits_a_bit(), &[])])).await.unwrap();
    let first = generation();
    runner.run(&list(vec![(waits_a_bit(), &[])])).await.unwrap();
    assert_eq!(generation(), first);
}

/// Knows what to change only when a peer has spoken.
struct Follows(AtomicU32);

impl Step for Follows {
    type Seen = (bool, bool);
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(StepId::new("follows"), "Follow", "what to do depends on a peer")
    }

    async fn observe(&self, host: &Host) -> Result<(bool, bool), StepError> {
        let has_spoken = self.0.fetch_add(1, Ordering::Relaxed) >= 3;
        Ok((has_spoken, host.disk.exists(Path::new("/etc/follows"))?))
    }

    fn plan(&self, &(has_spoken, is_there): &(bool, bool)) -> Result<Vec<Change>, StepError> {
        Ok(if has_spoken && !is_there { vec![file("/etc/follows")] } else { Vec::new() })
    }

    fn verify(&self, &(has_spoken, _): &(bool, bool)) -> Verdict {
        if has_spoken {
            return Verdict::Met;
        }
        Verdict::Waiting { what: "a peer to speak".into(), progress: String::new() }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_to_be_changed_may_depend_on_what_is_waited_for() {
    let disk = ModelDisk::default();
    let (runner, recorder) = runner_on(&disk);
    let playbook = Playbook::never_undone("test").step(Follows(AtomicU32::new(0)), &[]).build().unwrap();
    let report = runner.run(&playbook).await.unwrap();
    assert!(report.failed.is_empty() && disk.exists(Path::new("/etc/follows")).unwrap());
    let states: Vec<State> =
        recorder.take().iter().filter(|event| event.step.is_some()).map(|event| event.state).collect();
    assert_eq!(states, [State::Started, State::Waiting, State::Applying, State::Verified]);
}
