//! The distribution has packages that we know by name.

use crate::Verdict;

use super::{Check, Facts, always};
use nodekit::package_manager::Manager;

pub(super) const CHECK: Check = Check { name: "operating-system", is_for: always, evaluate };

/// Those that the documents name, and the one that our own tests run on.
const KNOWN: [(&str, &str); 3] = [("ubuntu", "22.04"), ("ubuntu", "24.04"), ("debian", "12")];

fn evaluate(facts: &Facts<'_>) -> (Verdict, String) {
    let os = &facts.survey.os;
    let name = if os.pretty.is_empty() { "an unknown system" } else { &os.pretty };
    match facts.survey.manager {
        None => (Verdict::Unmet, format!("{name}, without apt or dnf")),
        Some(manager @ Manager::Dnf) => (Verdict::Warning, format!("{name}, with {}; untested", manager.name())),
        Some(manager @ Manager::Apt) => {
            let reported = format!("{name}, with {}", manager.name());
            let is_known = KNOWN.iter().any(|(id, version)| os.id == *id && name.contains(version));
            if is_known { (Verdict::Met, reported) } else { (Verdict::Warning, format!("{reported}; untested")) }
        }
    }
}
