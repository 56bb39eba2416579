//! What must be true before anything is changed: without the payload, and of it.
//!
//! To add one: a file with a `CHECK`, and its line in a list here.

mod clock;
mod deployments;
mod host_tools;
mod images;
mod payload;
mod reconcilable;
mod secret;
mod space;
mod updaters;

use checks::{Check, Finding, Inconclusive, Part};
use engine::StepError;
use explain::{Code, Explain};

use crate::drivers::Subject;

/// Those that need no payload.
pub(super) const FIRST: &[Check<Subject>] =
    &[secret::CHECK, space::CHECK, host_tools::CHECK, deployments::CHECK, updaters::CHECK];

/// Those of the payload.
pub(super) const OF_PAYLOAD: &[Check<Subject>] = &[clock::CHECK, payload::CHECK, reconcilable::CHECK, images::CHECK];

fn problem(code: Code, part: Part, evidence: impl Into<String>) -> Finding {
    Finding::cause(code, part, evidence)
}

/// What a step would fail with, as a finding.
fn found(error: &StepError) -> Finding {
    Finding::cause(error.code(), Part::Machine, explain::chain(error)).with_fix(error.advice())
}

fn unclear(error: &StepError) -> Inconclusive {
    Inconclusive(explain::chain(error))
}

#[cfg(test)]
async fn reported(check: &Check<Subject>, machine: &super::testing::Machine) -> String {
    let outcomes = checks::run_all([check], &machine.subject(), std::time::Duration::from_secs(5), |_| None).await;
    let line = |found: &Finding| format!("  {:?} {} {}\n", found.kind, found.id(), found.evidence);
    match &outcomes[0].end {
        checks::End::Checked(found) if found.is_empty() => "  nothing\n".to_owned(),
        checks::End::Checked(found) => found.iter().map(line).collect(),
        checks::End::Inconclusive(why) | checks::End::Skipped(why) => format!("  unclear: {why}\n"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_of_one_check_each() {
        let all = super::FIRST.iter().chain(super::OF_PAYLOAD);
        insta::assert_snapshot!(all.map(|check| format!("{}: {}\n", check.name, check.about)).collect::<String>());
    }
}
