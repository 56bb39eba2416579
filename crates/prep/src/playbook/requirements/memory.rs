//! There is enough memory for a node with workloads.

use crate::Verdict;

use super::{Check, Facts, always, gib};

pub(super) const CHECK: Check = Check { name: "memory", is_for: always, evaluate };

/// 4 GB in KiB, less what firmware and kernel keep of it before the rest is counted.
const ENOUGH: u64 = 4_000_000_000 / 1024 * 95 / 100;

fn evaluate(facts: &Facts<'_>) -> (Verdict, String) {
    match facts.survey.memory {
        Some(memory) if memory >= ENOUGH => (Verdict::Met, gib(memory)),
        Some(memory) => (Verdict::Warning, format!("{}; at least 4 GB are recommended", gib(memory))),
        None => (Verdict::Unknown, "not in /proc/meminfo".to_owned()),
    }
}
