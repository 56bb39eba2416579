//! Playbooks of scripted steps, and what became of them.

use std::sync::{Arc, Mutex};

use engine::{Planned, Playbook, Report, StepId, Undos};
use explain::Explain;

use super::scripted::{Failure, Failures, Scripted, file};

/// These steps, each with those it comes after.
pub(crate) fn list(steps: Vec<(Scripted, &[&str])>) -> Playbook {
    let list = Playbook::never_undone("test");
    steps.into_iter().fold(list, |list, (step, after)| list.step(step, &ids(after))).build().unwrap()
}

/// The names of steps.
pub(crate) fn ids<T: AsRef<str>>(names: &[T]) -> Vec<StepId> {
    names.iter().map(|name| StepId::named(name.as_ref())).collect()
}

/// Of a list whose steps are files and nothing else.
pub(crate) fn undos() -> Undos {
    Undos::new("test")
}

/// A step that changes nothing.
pub(crate) fn nothing(id: &str) -> Scripted {
    Scripted::new(id, Vec::<Planned>::new())
}

/// A step that writes one file of its own name.
pub(crate) fn files(id: &str) -> Scripted {
    Scripted::new(id, vec![file(format!("/etc/{id}"))])
}

/// The same, with failures before it succeeds.
pub(crate) fn failing(id: &str, failures: &[Failure]) -> Scripted {
    let failures: Failures = Arc::new(Mutex::new(failures.iter().copied().collect()));
    files(id).failing(&failures)
}

/// The steps that failed, and with which code.
pub(crate) fn failed(report: &Report) -> Vec<(&str, &str)> {
    report.failed.iter().map(|failure| (failure.step.as_str(), failure.error.code().id)).collect()
}
