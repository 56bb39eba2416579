//! A run in a few lines: how far it is, what goes on in it and what went wrong. `node status`, `node timeline --list` and
//! `watch` show this one form; the agent reports it, so it is small whatever happened.

use std::path::Path;

use host::Disk;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Outcome, Purpose, RecordedError, RunRecord, StepRun, StepState};

/// Longer texts are cut: an error can hold all output of a command.
const LONGEST_TEXT: usize = 400;
/// More steps than ever run at once.
const MOST_STEPS: usize = 16;

/// What a run is doing, or how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run's id.
    pub run: String,
    /// The node it worked on; empty where the run ended before that was known.
    pub node: String,
    /// What it is for.
    pub purpose: Purpose,
    /// How it ended, as seen on its machine.
    pub outcome: Outcome,
    /// The boot of the machine it ran in.
    pub boot_id: String,
    /// When it began.
    pub started: Timestamp,
    /// When something was last heard of it.
    pub updated: Timestamp,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// Steps whose promise is kept.
    pub done: usize,
    /// Steps in all.
    pub total: usize,
    /// Steps that are going on, and those that failed.
    pub steps: Vec<OpenStep>,
    /// Why it ended badly, or what went wrong last, also where another attempt has fixed it.
    pub last_error: Option<RecordedError>,
}

/// A step that is going on or has failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenStep {
    /// Its id.
    pub id: String,
    /// What it is doing, or how it ended.
    pub state: StepState,
    /// What it waits for, does, or why it failed.
    pub what: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Which attempt it is.
    pub attempt: u32,
    /// Why the attempt before failed, or this one.
    pub error: Option<RecordedError>,
}

impl RunSummary {
    /// The last run on this machine that says something of the node; `None` if there was none, or it cannot be read: `node
    /// timeline` says why. One that only finds out which node the machine is says nothing of a node that has run since it booted.
    pub fn of_machine(disk: &dyn Disk, state_dir: &Path) -> Option<Self> {
        let latest = RunRecord::latest(disk, state_dir).ok()??;
        let is_of_this_boot = |up: &RunRecord| latest.purpose == Purpose::Detect && up.boot_id == latest.boot_id;
        let up = RunRecord::latest_for(Purpose::Up, disk, state_dir).ok().flatten().filter(is_of_this_boot);
        Some(Self::seen_by(&up.unwrap_or(latest), disk))
    }

    /// Of a record, with what has become of the run since it was written.
    pub fn seen_by(record: &RunRecord, disk: &dyn Disk) -> Self {
        Self { outcome: record.outcome_seen_by(disk), ..Self::from(record) }
    }

    /// Steps that wait for something right now, the longest wait first; none where no process is at it.
    pub fn waiting(&self) -> Vec<&OpenStep> {
        let is_waiting = |step: &&OpenStep| matches!(step.state, StepState::Waiting | StepState::Retrying);
        let mut all: Vec<&OpenStep> = self.steps.iter().filter(is_waiting).collect();
        all.retain(|_| self.outcome == Outcome::Working);
        all.sort_by_key(|step| step.since);
        all
    }
}

impl From<&RunRecord> for RunSummary {
    fn from(record: &RunRecord) -> Self {
        let is_open = |step: &&StepRun| !step.state.is_end() || step.state.is_bad();
        Self {
            run: record.run.clone(),
            node: record.node.clone(),
            purpose: record.purpose,
            outcome: record.outcome,
            boot_id: record.boot_id.clone(),
            started: record.started,
            updated: record.updated,
            ended: record.ended,
            done: record.done,
            total: record.total,
            steps: record.steps.iter().filter(is_open).take(MOST_STEPS).map(open).collect(),
            last_error: record.cause().map(cut),
        }
    }
}

fn open(step: &StepRun) -> OpenStep {
    let attempt = step.attempts.last();
    let failed = step.attempts.iter().rev().find_map(|attempt| attempt.error.as_ref());
    let (what, since) = match (step.waiting(), &step.doing) {
        (Some(waiting), _) => (waiting.what, Some(waiting.since)),
        (None, _) if step.state.is_bad() => (failed.map_or("", |error| error.diagnostic.message.as_str()), step.ended),
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
    RecordedError { diagnostic: failure.diagnostic.clone().map(short), ..failure.clone() }
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

    use super::{super::RecordKeeper, *};
    use engine::{Event, Sink, State};
    use explain::{Diagnostic, Message};
    use host::RealDisk;

    const STATE_DIR: &str = "/state";

    /// Sends the events of a run to a keeper: step, what happened, the message.
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
                text: code
                    .map_or_else(|| Message::text(*message), |code| Message::Error(Diagnostic::new(code, *message))),
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
            seen.last_error.map(|error| (error.diagnostic.code, error.diagnostic.message.chars().count())),
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
    fn finding_out_which_node_the_machine_is_does_not_hide_its_bootstrap() {
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
