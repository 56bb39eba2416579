//! What such a node should have: a registry of checks, all of them pure.
//!
//! They look at nothing: a [`Survey`] was taken once, and the run has reported what it saw. None of them stops a run.
//! Where something is really missing a step says so with a code; these are for the people who choose machines.
//!
//! To add one: a file with a `CHECK`, its line in [`registry`].

mod architecture;
mod cpu;
mod disk;
mod kernel;
mod memory;
mod os;
mod source;

use crate::{Prep, Requirement, Verdict};
use engine::StepFailure;

use super::{Survey, Task};

/// One thing that a node should have.
struct Check {
    name: &'static str,
    /// Whether it matters for this preparation.
    is_for: fn(Prep) -> bool,
    evaluate: fn(&Facts<'_>) -> (Verdict, String),
}

/// What checks evaluate from.
pub(super) struct Facts<'a> {
    pub(super) survey: &'a Survey,
    pub(super) task: &'a Task,
    /// How the run ended; `None` before it.
    pub(super) ended: Option<&'a engine::Report>,
}

impl Facts<'_> {
    /// The step that failed, if it did.
    fn failure(&self, step: &str) -> Option<&StepFailure> {
        self.ended.and_then(|ended| ended.failed.iter().find(|failed| failed.step == step))
    }
}

/// All checks, in the order in which people read them.
fn registry() -> [&'static Check; 7] {
    [&os::CHECK, &architecture::CHECK, &memory::CHECK, &disk::CHECK, &source::CHECK, &cpu::CHECK, &kernel::CHECK]
}

/// What every check says; what was asked of the machine itself comes last.
pub(super) fn all(facts: &Facts<'_>) -> Vec<Requirement> {
    let prep = facts.task.prep();
    let evaluated =
        registry().into_iter().filter(|check| (check.is_for)(prep)).map(|check| match (check.evaluate)(facts) {
            (verdict, detail) if verdict == Verdict::Met || facts.survey.is_applicable(facts.task) => {
                Requirement::new(check.name, verdict, detail)
            }
            (_, detail) => Requirement::new(check.name, Verdict::Met, format!("{detail}; here it does not matter")),
        });
    evaluated.chain(facts.survey.multipath.clone()).chain(facts.survey.nfs.clone()).collect()
}

/// For checks that matter for all.
const fn always(_prep: Prep) -> bool {
    true
}

/// For checks of what a GPU needs.
const fn for_gpu(prep: Prep) -> bool {
    matches!(prep, Prep::Gpu)
}

/// `3.9 GiB`, of KiB.
fn gib(kib: u64) -> String {
    let tenths = kib * 10 / (1 << 20);
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests;
