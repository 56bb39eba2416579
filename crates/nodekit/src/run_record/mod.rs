//! What became of each run on this node: its steps with their times, attempts, waits and errors, kept for
//! `node status`, `node timeline` and `watch`, during the run and later.
//!
//! Events come in through [`RecordKeeper`], a sink of the engine. [`RunRecord::apply`] makes the record of them and touches
//! nothing; a thread of its own writes it to `runs/RUN.json` in the state directory, whole at every instant but not
//! synced, so that the bootstrap waits for no disk because of it. Nothing is decided from a record: what is done on
//! the machine is in the ledger, and the next check sees it.
//!
//! After a crash the last record still says that the run is working. [`RunRecord::outcome_seen_by`] knows better: the
//! process that wrote it is gone, or the machine has booted since.
//!
//! To keep something more of a run: a field here, its line in `apply.rs`, its row in `docs/reference/node-timeline.md`.

mod apply;
mod keeper;
mod process;
mod store;
mod summary;
#[cfg(test)]
mod tests;
mod waiting;
mod writer;

use std::fmt;

use explain::Diagnostic;
use jiff::Timestamp;
pub use keeper::RecordKeeper;
pub use process::Process;
pub use process::began;
use serde::{Deserialize, Serialize};
pub use store::{RUNS, RecordError};
pub use summary::{OpenStep, RunSummary};
pub use waiting::Waiting;

/// The version in every record's `v`. Fields are only ever added; a change of meaning gets a new version.
pub const SCHEMA_VERSION: u32 = 1;

/// One run of a playbook on this node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this form.
    pub v: u32,
    /// The run's id, as in its events.
    pub run: String,
    /// What the run was for.
    pub purpose: Purpose,
    /// The node it worked on; empty where the run ended before that was known.
    pub node: String,
    /// Which playbook.
    pub playbook: String,
    /// The boot of the machine it ran in.
    pub boot_id: String,
    /// The process that ran it.
    pub process: Process,
    /// Version of the program.
    pub version: String,
    /// When it began.
    pub started: Timestamp,
    /// When something was last heard of it.
    pub updated: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// How it ended.
    pub outcome: Outcome,
    /// Steps whose promise is kept; when undoing, those that are undone.
    pub done: usize,
    /// Steps in all.
    pub total: usize,
    /// The last message of the run itself: "24 steps", "24 verified, 3 of them changed".
    pub summary: String,
    /// The steps, in the order in which they were first heard of.
    pub steps: Vec<StepRun>,
    /// What went wrong last, also when another attempt has fixed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<RecordedError>,
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// `node up`: the bootstrap.
    Up,
    /// `node detect`: find out which node this is.
    Detect,
    /// `node reset`: take everything back.
    Reset,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It has not ended.
    Working,
    /// Every promise is kept.
    Done,
    /// Something failed.
    Failed,
    /// It was stopped from outside, between two changes.
    Cancelled,
    /// It ended without a report: killed, or the machine went down. Never written, only seen by a reader.
    Interrupted,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRun {
    /// Its id.
    pub id: String,
    /// What it does, for a person; its id where that was never reported.
    pub title: String,
    /// When it began; absent if it was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// What it is doing, or how it ended.
    pub state: StepState,
    /// The attempts at it, the first one first.
    pub attempts: Vec<Attempt>,
    /// What it waited for, in that order.
    pub waits: Vec<Wait>,
    /// The change it is making right now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
}

/// What a step is doing, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepState {
    /// It looks at the machine or changes it.
    Working,
    /// It waits for something that others must do.
    Waiting,
    /// An attempt failed; it pauses before the next one.
    Retrying,
    /// Its promise is kept; it changed something.
    Done,
    /// Its promise was kept already.
    Unchanged,
    /// It failed for good in this run.
    Failed,
    /// It was not tried, because one before it failed.
    NotTried,
    /// It was stopped with the run.
    Cancelled,
    /// What it had made is undone.
    Undone,
    /// Something that it had made could not be undone.
    NotUndone,
}

/// One attempt at a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Counts from 1.
    pub number: u32,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RecordedError>,
}

/// Something that was waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// As a person says it: "etcd to answer on port 2379".
    pub what: String,
    /// When the wait began.
    pub since: Timestamp,
    /// When it was over, one way or another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedError {
    /// In which step; absent where it was the run as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What it was.
    #[serde(flatten)]
    pub diagnostic: Diagnostic<String>,
    /// When.
    pub time: Timestamp,
}

impl fmt::Display for RecordedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { code, message, .. } = &self.diagnostic;
        let step = self.step.as_ref().map(|step| format!("step `{step}`: ")).unwrap_or_default();
        write!(f, "{code}: {step}{message}")
    }
}

impl StepState {
    /// True once nothing more happens to the step in this run.
    pub fn is_end(self) -> bool {
        !matches!(self, Self::Working | Self::Waiting | Self::Retrying)
    }

    /// True if it ended badly.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::NotUndone)
    }
}
