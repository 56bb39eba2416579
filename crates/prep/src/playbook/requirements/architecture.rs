//! The processor is of the kind that everything was tried on.

use crate::{Prep, Verdict};

use super::{Check, Facts, always};

pub(super) const CHECK: Check = Check { name: "architecture", is_for: always, evaluate };

fn evaluate(facts: &Facts<'_>) -> (Verdict, String) {
    match (facts.survey.architecture.as_deref(), facts.task.prep()) {
        (Some("x86_64"), _) => (Verdict::Met, "x86_64".to_owned()),
        (Some(other), Prep::Gpu) => (Verdict::Unmet, format!("{other}; Intel's GPU drivers are for x86_64")),
        (Some(other), Prep::Iscsi) => (Verdict::Warning, format!("{other}; x86_64 is tested")),
        (None, _) => (Verdict::Unknown, "`uname -m` does not answer".to_owned()),
    }
}
