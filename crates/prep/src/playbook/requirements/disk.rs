//! There is space for the packages, and some for volumes.

use crate::{Prep, Verdict};

use super::{Check, Facts, always, gib};

pub(super) const CHECK: Check = Check { name: "disk", is_for: always, evaluate };

const MIB: u64 = 1024;
const GIB: u64 = 1024 * MIB;

/// What the packages take with what is fetched for them, and what a node should have left.
const fn limits(prep: Prep, is_installed: bool) -> (u64, u64) {
    match prep {
        Prep::Iscsi if is_installed => (0, 10 * GIB),
        Prep::Gpu if is_installed => (0, 2 * GIB),
        Prep::Iscsi => (100 * MIB, 10 * GIB),
        Prep::Gpu => (700 * MIB, 2 * GIB),
    }
}

fn evaluate(facts: &Facts<'_>) -> (Verdict, String) {
    let Some(free) = facts.survey.free else { return (Verdict::Unknown, "`df` does not answer".to_owned()) };
    let (least, enough) = limits(facts.task.prep(), facts.survey.missing.is_empty());
    let shown = format!("{} free in /var", gib(free));
    if free < least {
        (Verdict::Unmet, format!("{shown}; the packages need {} MiB", least / MIB))
    } else if free < enough {
        let why = match facts.task.prep() {
            Prep::Iscsi => "volumes of Longhorn need space too",
            Prep::Gpu => "more is recommended for what is transcoded",
        };
        (Verdict::Warning, format!("{shown}; {why}"))
    } else {
        (Verdict::Met, shown)
    }
}
