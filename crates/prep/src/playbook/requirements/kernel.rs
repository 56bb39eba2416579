//! The kernel is version 5 or newer, whose driver knows the GPUs that transcode well.

use crate::Verdict;

use super::{Check, Facts, for_gpu};

pub(super) const CHECK: Check = Check { name: "kernel", is_for: for_gpu, evaluate };

fn evaluate(facts: &Facts<'_>) -> (Verdict, String) {
    let release = facts.survey.kernel.clone();
    match release.split('.').next().and_then(|major| major.parse::<u32>().ok()) {
        Some(major) if major >= 5 => (Verdict::Met, release),
        Some(_) => (Verdict::Warning, format!("{release}; version 5 or newer is recommended")),
        None => (Verdict::Unknown, format!("`{release}` is no version")),
    }
}
