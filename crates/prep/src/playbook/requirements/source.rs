//! Packages can be had.
//!
//! No mirror is asked only for this: where packages are missing the installation shows it, and where none is missing a
//! mirror is of no importance.

use crate::Verdict;
use explain::{Explain, counted};

use super::{Check, Facts, always};
use crate::codes;

pub(super) const CHECK: Check = Check { name: "package-source", is_for: always, evaluate };

fn evaluate(facts: &Facts<'_>) -> (Verdict, String) {
    let survey = facts.survey;
    if !survey.is_applicable(facts.task) {
        return (Verdict::Met, "nothing is to be installed on this machine".to_owned());
    }
    if let (Some(dir), Some(count)) = (&facts.task.packages, survey.in_directory) {
        let verdict = if count == 0 { Verdict::Unmet } else { Verdict::Met };
        return (verdict, format!("{} has {}", dir.display(), counted(count, "package")));
    }
    if survey.missing.is_empty() && survey.manager.is_some() {
        return (Verdict::Met, "all packages are installed; no mirror was asked".to_owned());
    }
    let missing = survey.missing.join(", ");
    let failed = ["package-source", "packages"].iter().find_map(|step| facts.failure(step));
    match failed {
        Some(failure)
            if [nodekit::codes::PACKAGES_UNREACHABLE, codes::NO_COMPONENT].contains(&failure.error.code()) =>
        {
            (Verdict::Unmet, explain::chain(&failure.error))
        }
        Some(_) => (Verdict::Unknown, format!("it did not come to fetching {missing}")),
        None if facts.ended.is_some_and(|ended| ended.verified.iter().any(|step| step == "packages")) => {
            (Verdict::Met, format!("{missing} came from there"))
        }
        None => (Verdict::Unknown, format!("shown by the installation of {missing}")),
    }
}
