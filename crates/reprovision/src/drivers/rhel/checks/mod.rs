//! What must be true of a node before a payload is run on it. One file per check.

mod ansible;
mod clock;
mod mirrors;
mod package_manager;
mod payload;
mod registry;
mod secret;
mod space;
mod updaters;
mod way_back;

use checks::{Check, Finding, Inconclusive};
use engine::StepError;
use explain::Explain;
use host::Cmd;
use tokio::sync::{Mutex, MutexGuard};

use crate::drivers::Subject;

/// Those that need no payload.
pub(super) fn before() -> &'static [Check<Subject>] {
    &[
        secret::CHECK,
        package_manager::CHECK,
        mirrors::CHECK,
        registry::CHECK,
        space::CHECK,
        updaters::CHECK,
        way_back::CHECK,
    ]
}

/// Those of the payload and for it.
pub(super) fn of_payload() -> &'static [Check<Subject>] {
    &[payload::CHECK, ansible::CHECK, clock::CHECK]
}

/// A command with its messages in English.
fn command<const N: usize>(program: &str, arguments: [&str; N]) -> Cmd {
    Cmd::new(program).args(arguments).env("LC_ALL", "C")
}

/// One check at a time asks dnf: two of ours would find each other's lock.
async fn turn_at_dnf() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::const_new(());
    TURN.lock().await
}

/// What a step would fail with, as a finding.
fn found(error: &StepError) -> Finding {
    let advice = error.advice();
    Finding::cause(error.code(), checks::Part::Machine, explain::chain(error)).with_fix(advice)
}

fn inconclusive(error: &StepError) -> Inconclusive {
    Inconclusive(explain::chain(error))
}
