//! The distribution has packages that we know by name.

use ::prep::Verdict;

use super::{Check, Facts, always};
use crate::prep::manager::Manager;

pub(super) const CHECK: Check = Check { name: "operating-system", is_for: always, judge };

/// Those that the documents name.
const TESTED: [(&str, &str); 2] = [("ubuntu", "22.04"), ("ubuntu", "24.04")];

fn judge(facts: &Facts<'_>) -> (Verdict, String) {
    let os = &facts.survey.os;
    let name = if os.pretty.is_empty() { "an unknown system" } else { &os.pretty };
    match facts.survey.manager {
        None => (Verdict::Unmet, format!("{name}, without apt or dnf")),
        Some(manager @ Manager::Dnf) => {
            (Verdict::Warning, format!("{name}, with {}; Debian's relatives are tested", manager.name()))
        }
        Some(manager @ Manager::Apt) => {
            let is_tested =
                os.is_like("debian") || TESTED.iter().any(|(id, version)| os.id == *id && name.contains(version));
            let verdict = if is_tested { Verdict::Met } else { Verdict::Warning };
            (verdict, format!("{name}, with {}", manager.name()))
        }
    }
}
