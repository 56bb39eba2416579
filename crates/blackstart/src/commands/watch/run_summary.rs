//! A run in a few lines: what is going on in it and what went wrong, small enough to be told to others every second.
//!
//! The agent sends it with its reports; `watch` reads it from there, or makes it itself where it can read the record.

use std::path::Path;

use host::Disk;
use jiff::Timestamp;
use nodekit::run_record::{Outcome, Purpose, RecordedError, RunRecord, StepRun, StepState};
use serde::{Deserialize, Serialize};

/// Longer texts are cut: an error can hold all that a command said.
const LONGEST_TEXT: usize = 400;
/// More steps than ever run at once.
const MOST_STEPS: usize = 16;

/// What a run is doing, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::commands) struct RunSummary {
    /// The run's id.
    pub(super) run: String,
    /// What it is for.
    pub(super) purpose: Purpose,
    /// How it ended, as seen on its machine.
    pub(super) outcome: Outcome,
    /// When it began.
    pub(super) started: Timestamp,
    /// When it ended.
    pub(super) ended: Option<Timestamp>,
    /// Steps whose promise is kept.
    pub(super) done: usize,
    /// Steps in all.
    pub(super) total: usize,
    /// Steps that are going on, and those that failed.
    pub(super) steps: Vec<OpenStep>,
    /// What went wrong last, also where another attempt has cured it.
    pub(super) error: Option<RecordedError>,
}

/// A step that is going on or has failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::commands) struct OpenStep {
    /// Its id.
    pub(super) id: String,
    /// What it is doing, or how it ended.
    pub(super) state: StepState,
    /// What it waits for, does, or why it failed.
    pub(super) what: String,
    /// Since when.
    pub(super) since: Option<Timestamp>,
    /// Which attempt it is.
    pub(super) attempt: u32,
    /// Why the attempt before failed, or this one.
    pub(super) error: Option<RecordedError>,
}

impl RunSummary {
    /// The last run on this machine that says something of the node; `None` if there was none.
    pub(in crate::commands) fn of_machine(disk: &dyn Disk, state_dir: &Path) -> Option<Self> {
        let record = last(disk, state_dir)?;
        let outcome = record.outcome_seen_by(disk);
        Some(Self::new(&record, outcome))
    }

    /// Of a record, whose outcome somebody knows better than the record itself.
    pub(super) fn new(record: &RunRecord, outcome: Outcome) -> Self {
        let is_open = |step: &&StepRun| !step.state.is_end() || step.state.is_bad();
        Self {
            run: record.run.clone(),
            purpose: record.purpose,
            outcome,
            started: record.started,
            ended: record.ended,
            done: record.done,
            total: record.total,
            steps: record.steps.iter().filter(is_open).take(MOST_STEPS).map(open).collect(),
            error: record.cause().map(cut),
        }
    }
}

/// The run that began last. One that only finds out who the machine is tells nothing of a node that has run since it
/// booted.
pub(super) fn last(disk: &dyn Disk, state_dir: &Path) -> Option<RunRecord> {
    // What cannot be read tells nothing; `node timeline` says why.
    let latest = RunRecord::latest(disk, state_dir).ok().flatten()?;
    if latest.purpose != Purpose::Detect {
        return Some(latest);
    }
    let up = RunRecord::latest_for(Purpose::Up, disk, state_dir).ok().flatten();
    Some(up.filter(|up| up.boot_id == latest.boot_id).unwrap_or(latest))
}

fn open(step: &StepRun) -> OpenStep {
    let attempt = step.attempts.last();
    let failed = step.attempts.iter().rev().find_map(|attempt| attempt.error.as_ref());
    let (what, since) = match (step.waiting(), &step.doing) {
        (Some(waiting), _) => (waiting.what, Some(waiting.since)),
        (None, _) if step.state.is_bad() => (failed.map_or("", |error| error.message.as_str()), step.ended),
        (None, Some(doing)) => (doing.as_str(), attempt.map(|attempt| attempt.started)),
        (None, None) => (step.title.as_str(), attempt.map(|attempt| attempt.started)),
    };
    OpenStep {
        id: step.id.clone(),
        state: step.state,
        what: short(what),
        since: since.or(step.started),
        attempt: attempt.map_or(1, |attempt| attempt.number),
        error: failed.map(cut),
    }
}

fn cut(failure: &RecordedError) -> RecordedError {
    RecordedError { message: short(&failure.message), hint: short(&failure.hint), ..failure.clone() }
}

fn short(text: &str) -> String {
    if text.chars().count() <= LONGEST_TEXT {
        return text.to_owned();
    }
    text.chars().take(LONGEST_TEXT - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{Event, Sink, State};
    use host::RealDisk;
    use nodekit::run_record::RecordKeeper;

    use super::*;

    const STATE_DIR: &str = "/state";

    /// Tells a run to a keeper: step, what happened, what was said.
    fn keep(disk: &Arc<dyn Disk>, purpose: Purpose, second: i8, output: &[(Option<&str>, State, &str)]) {
        let keeper = RecordKeeper::new(disk, Path::new(STATE_DIR), purpose);
        for (sequence, (step, state, message)) in output.iter().enumerate() {
            let code = matches!(state, State::Retrying | State::Failed).then_some(engine::codes::NOT_IN_TIME);
            keeper.event(&Event {
                v: engine::EVENT_SCHEMA_VERSION,
                sequence: sequence as u64,
                time: format!("2026-11-15T12:00:{:02}Z", usize::from(second.unsigned_abs()) + sequence)
                    .parse()
                    .unwrap(),
                run: format!("20261115T1200{second:02}Z-7"),
                node: "worker-01".into(),
                playbook: "cluster".into(),
                step: step.map(Into::into),
                state: *state,
                attempt: 1,
                done: 1,
                total: 4,
                message: (*message).into(),
                code,
                hint: code.map(|code| code.fix.to_owned()),
            });
        }
        keeper.finish();
    }

    fn disk() -> (tempfile::TempDir, Arc<dyn Disk>) {
        let dir = tempfile::tempdir().unwrap();
        let disk: Arc<dyn Disk> = Arc::new(RealDisk::new(dir.path()));
        (dir, disk)
    }

    fn run_summary(disk: &Arc<dyn Disk>) -> Option<RunSummary> {
        RunSummary::of_machine(&**disk, Path::new(STATE_DIR))
    }

    #[test]
    fn what_is_done_is_left_out_and_long_texts_are_cut() {
        let (_dir, disk) = disk();
        assert_eq!(run_summary(&disk), None);
        let long = "x".repeat(10_000);
        let output = [
            (None, State::RunStarted, "4 steps"),
            (Some("kernel"), State::Started, "Set up the kernel"),
            (Some("kernel"), State::Verified, "Set up the kernel"),
            (Some("etcd"), State::Started, "Start etcd"),
            (Some("etcd"), State::Waiting, "etcd to answer on port 2379"),
            (Some("images"), State::Started, "Import images"),
            (Some("images"), State::Applying, "import pause:3.10"),
            (Some("kubelet"), State::Started, "Start the kubelet"),
            (Some("kubelet"), State::Retrying, long.as_str()),
        ];
        keep(&disk, Purpose::Up, 0, &output);
        let seen = run_summary(&disk).unwrap();
        let steps: Vec<(&str, StepState, usize)> =
            seen.steps.iter().map(|step| (step.id.as_str(), step.state, step.what.chars().count())).collect();
        let expected = [
            ("etcd", StepState::Waiting, "etcd to answer on port 2379".len()),
            ("images", StepState::Working, "import pause:3.10".len()),
            ("kubelet", StepState::Retrying, LONGEST_TEXT),
        ];
        assert_eq!(steps, expected);
        assert_eq!(
            seen.error.map(|error| (error.code, error.message.chars().count())),
            Some((engine::codes::NOT_IN_TIME.id.to_owned(), LONGEST_TEXT))
        );
        assert_eq!(seen.steps[0].since, Some("2026-11-15T12:00:04Z".parse().unwrap()));
        assert_eq!(seen.outcome, Outcome::Interrupted, "there is no such process below that root");
    }

    #[test]
    fn it_stays_small_whatever_happens() {
        let (_dir, disk) = disk();
        let (names, long) = ((0..40).map(|number| format!("step-{number}")).collect::<Vec<_>>(), "é".repeat(10_000));
        let begun = [(None, State::RunStarted, "40 steps")];
        let failed = names.iter().map(|name| (Some(name.as_str()), State::Failed, long.as_str()));
        keep(&disk, Purpose::Up, 0, &begun.into_iter().chain(failed).collect::<Vec<_>>());
        let size = serde_json::to_vec(&run_summary(&disk)).unwrap().len();
        assert!(size < 40_000, "a master takes reports of 64 KiB, also where this is text inside of JSON: {size}");
    }

    #[test]
    fn finding_out_who_the_machine_is_does_not_hide_its_bootstrap() {
        let (_dir, disk) = disk();
        let done = [(None, State::RunStarted, "1 step"), (None, State::RunFinished, "done")];
        keep(&disk, Purpose::Detect, 0, &done);
        assert_eq!(run_summary(&disk).unwrap().purpose, Purpose::Detect);
        keep(&disk, Purpose::Up, 10, &done);
        keep(&disk, Purpose::Detect, 20, &done);
        assert_eq!(run_summary(&disk).unwrap().run, "20261115T120010Z-7");
        keep(&disk, Purpose::Reset, 30, &done);
        assert_eq!(run_summary(&disk).unwrap().purpose, Purpose::Reset);
    }
}
