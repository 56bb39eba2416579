//! Labels of runs and steps, the same in every picture.

use nodekit::run_record::{Outcome, Purpose, StepState};

/// What was typed to start a run.
pub(in crate::commands::node) fn command(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Up => "node up",
        Purpose::Detect => "node detect",
        Purpose::Reset => "node reset",
    }
}

/// How a run ended.
pub(in crate::commands::node) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Working => "working",
        Outcome::Done => "done",
        Outcome::Failed => "FAILED",
        Outcome::Cancelled => "stopped",
        Outcome::Interrupted => "INTERRUPTED",
    }
}

/// What a step is doing, or how it ended, as a sign.
pub(super) fn sign(state: StepState) -> &'static str {
    match state {
        StepState::Working => "→",
        StepState::Waiting => "…",
        StepState::Retrying | StepState::Cancelled => "!",
        StepState::Done | StepState::Undone => "✓",
        StepState::Unchanged => "=",
        StepState::Failed | StepState::NotUndone => "✗",
        StepState::NotTried => "-",
    }
}

/// The same in words.
pub(super) fn state(state: StepState) -> &'static str {
    match state {
        StepState::Working => "works",
        StepState::Waiting => "waits",
        StepState::Retrying => "tries again",
        StepState::Done => "done",
        StepState::Unchanged => "was there already",
        StepState::Failed => "failed",
        StepState::NotTried => "not tried",
        StepState::Cancelled => "stopped",
        StepState::Undone => "undone",
        StepState::NotUndone => "not undone",
    }
}
