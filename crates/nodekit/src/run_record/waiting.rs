//! The summary of a record: what is waited for, and what went wrong.

use jiff::Timestamp;

use super::{Outcome, RecordedError, RunRecord, StepRun, StepState};

/// Something that a step waits for right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting<'a> {
    /// Which step.
    pub step: &'a str,
    /// What it waits for, as a person says it; the error, where it pauses before another attempt.
    pub what: &'a str,
    /// Since when. What is waited for may be worded differently from moment to moment; it is still one wait.
    pub since: Timestamp,
}

impl StepRun {
    /// What this step waits for right now.
    pub fn waiting(&self) -> Option<Waiting<'_>> {
        let step = self.id.as_str();
        match self.state {
            StepState::Waiting => {
                let last = self.waits.last()?;
                let unbroken = self.waits.windows(2).rev().take_while(|pair| pair[0].until == Some(pair[1].since));
                let since = unbroken.last().map_or(last.since, |pair| pair[0].since);
                Some(Waiting { step, what: &last.what, since })
            }
            StepState::Retrying => {
                let error = self.attempts.last()?.error.as_ref()?;
                Some(Waiting { step, what: &error.diagnostic.message, since: error.time })
            }
            _ => None,
        }
    }

    /// Why the last attempt failed, if it did.
    pub fn error(&self) -> Option<&RecordedError> {
        self.attempts.last()?.error.as_ref()
    }
}

impl RunRecord {
    /// Everything that is waited for, the longest wait first.
    pub fn waiting(&self) -> Vec<Waiting<'_>> {
        let mut all: Vec<Waiting<'_>> = self.steps.iter().filter_map(StepRun::waiting).collect();
        all.sort_by_key(|waiting| waiting.since);
        all
    }

    /// Why the run ended badly: the first step that failed for good, else what went wrong last.
    pub fn cause(&self) -> Option<&RecordedError> {
        let bad = self.steps.iter().filter(|step| step.state.is_bad());
        let first = bad.filter_map(StepRun::error).min_by_key(|failure| failure.time);
        first.or(self.last_error.as_ref())
    }

    /// The run in one line: everything that is waited for or else done, what went wrong, or how it ended. Empty between two
    /// steps.
    pub fn message(&self) -> String {
        let waiting: Vec<&str> = self.waiting().iter().map(|waiting| waiting.what).collect();
        let doing: Vec<&str> = self.steps.iter().filter_map(|step| step.doing.as_deref()).collect();
        match (self.outcome, self.cause()) {
            (Outcome::Failed, Some(error)) => error.to_string(),
            (Outcome::Working, _) if !waiting.is_empty() => waiting.join("; "),
            (Outcome::Working, _) => doing.join("; "),
            _ => self.summary.clone(),
        }
    }
}
