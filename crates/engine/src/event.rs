//! One stream of events for everything that shows progress: terminal, journal, scripts, and later page and metrics.
//!
//! The JSON form is one line per event and versioned; `docs/reference/events.md` describes it. Fields are only ever
//! added; a change of meaning gets a new version.

use explain::{Diagnostic, Message};
use jiff::Timestamp;
use serde::Serialize;

/// The version in every event's `v`.
pub const SCHEMA_VERSION: u32 = 1;

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Version of this form.
    pub v: u32,
    /// Counts up by one within a run.
    pub sequence: u64,
    /// When.
    pub time: Timestamp,
    /// Which run.
    pub run: String,
    /// The node the run works on.
    pub node: String,
    /// Which playbook.
    pub playbook: String,
    /// Which step; absent for events of the run itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What happened.
    pub state: State,
    /// Which attempt at the step, from 1; 0 for events of the run itself.
    pub attempt: u32,
    /// Steps that are verified so far; when undoing, those that are undone.
    pub done: usize,
    /// Steps in the playbook; when undoing, those to undo.
    pub total: usize,
    /// For a person: the step's title, the change, what is waited for; the error, with code and hint.
    #[serde(flatten)]
    pub text: Message,
}

impl Event {
    /// For a person.
    pub fn message(&self) -> &str {
        self.text.message()
    }

    /// What went wrong, if something did.
    pub fn error(&self) -> Option<&Diagnostic> {
        self.text.error()
    }
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The run holds the lock and begins.
    RunStarted,
    /// `ledger.json` was unreadable or gone and the previous generation was taken.
    LedgerRecovered,
    /// The step looks at the machine.
    Started,
    /// One change is about to be made.
    Applying,
    /// All changes are made; the promised state is not there yet.
    Waiting,
    /// The attempt failed; there will be another one.
    Retrying,
    /// The promised state is seen; the step changed something in this run.
    Verified,
    /// The promised state was there already.
    Unchanged,
    /// The step failed for good in this run.
    Failed,
    /// The step was not tried, because one before it failed.
    Blocked,
    /// The step was stopped between two changes; run again to go on.
    Cancelled,
    /// The step's changes are being undone.
    Undoing,
    /// The step's changes are undone.
    Undone,
    /// Something of the step could not be undone.
    UndoFailed,
    /// The run is over; the message says how it ended.
    RunFinished,
}

/// Takes events. It must be quick: the runner waits for it.
pub trait Sink: Send + Sync {
    /// Called once per event, in order.
    fn event(&self, event: &Event);
}
