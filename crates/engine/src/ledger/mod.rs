//! What has been done on this machine, so that it can be shown and undone.
//!
//! The ledger is data; [`LedgerStore`] keeps it on disk. `started` is on disk, with what it takes to undo, before the
//! first outside effect of a step. Steps are filed as `playbook/step`.

mod form;
mod store;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use store::{LedgerError, LedgerStore, Opened};

use crate::UndoEntry;

/// All steps that were ever started on this machine and not undone since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Counts the writes; a higher number is newer.
    pub generation: u64,
    /// Counts the steps ever started; gives the order for undoing.
    pub sequence: u64,
    /// The run that wrote last.
    pub run: String,
    /// `playbook/step` to what is known of it.
    pub steps: BTreeMap<String, StepRecord>,
}

/// What is known of one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// When it was first started, counted over all steps of the machine.
    pub sequence: u64,
    /// How far it got.
    pub progress: Progress,
    /// Attempts that began, over all runs since it was last verified.
    pub attempts: u32,
    /// When the last attempt began.
    pub started: Timestamp,
    /// When the promised state was last seen after a change or for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Timestamp>,
    /// How to take it back, in the order in which it was done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undo: Vec<UndoEntry>,
    /// The last error: code and text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How far a step got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// Changes may have been made.
    Started,
    /// The promised state was seen.
    Verified,
}

impl Ledger {
    /// The name a step is filed under.
    pub fn key(playbook: &str, step: &str) -> String {
        format!("{playbook}/{step}")
    }

    /// An attempt begins. What is known on undoing is kept: the first check saw the machine before us.
    pub(crate) fn start(&mut self, key: &str, now: Timestamp, undo: Vec<UndoEntry>) {
        let next = self.sequence + 1;
        let record = self.steps.entry(key.to_owned()).or_insert_with(|| {
            self.sequence = next;
            StepRecord {
                sequence: next,
                progress: Progress::Started,
                attempts: 0,
                started: now,
                verified: None,
                undo: Vec::new(),
                error: None,
            }
        });
        record.attempts = if record.progress == Progress::Verified { 1 } else { record.attempts + 1 };
        record.progress = Progress::Started;
        record.started = now;
        for entry in undo {
            if !record.undo.iter().any(|known| known.target() == entry.target()) {
                record.undo.push(entry);
            }
        }
    }

    /// The promised state was seen.
    pub(crate) fn verify(&mut self, key: &str, now: Timestamp) {
        if !self.steps.contains_key(key) {
            self.start(key, now, Vec::new());
        }
        if let Some(record) = self.steps.get_mut(key) {
            record.progress = Progress::Verified;
            record.verified = Some(now);
            record.error = None;
        }
    }

    /// The attempt failed.
    pub(crate) fn fail(&mut self, key: &str, error: String) {
        if let Some(record) = self.steps.get_mut(key) {
            record.error = Some(error);
        }
    }

    /// True if the step is filed as verified, and nothing went wrong since.
    pub(crate) fn is_verified_without_error(&self, key: &str) -> bool {
        self.is_verified(key) && self.steps.get(key).is_some_and(|record| record.error.is_none())
    }

    /// True if the step is filed as verified.
    pub fn is_verified(&self, key: &str) -> bool {
        self.steps.get(key).is_some_and(|record| record.progress == Progress::Verified)
    }
}
