//! Checks and their outcomes as text for people. The first word of a line says it all; colour is for the edge.

use super::{Check, Finding, Outcome, Roles, When};

/// One line per check: name and what it is about.
pub fn list(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for check in checks {
        let roles = if check.roles == Roles::Masters { "; masters only" } else { "" };
        let when = if check.when == When::FirstTime { "; first time only" } else { "" };
        text += &format!("{:width$}  {}{roles}{when}\n", check.name, check.about);
    }
    text
}

/// One line per outcome, and one more where there is something to do.
pub fn show(outcomes: &[Outcome]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.check.len()).max().unwrap_or_default();
    let mut text = String::new();
    for Outcome { check, finding } in outcomes {
        let (word, detail, hint) = match finding {
            Finding::Fine => ("ok", String::new(), None),
            Finding::Warning { message, hint } => ("warning", message.clone(), Some(hint)),
            Finding::Problem { code, message, hint } => ("problem", format!("{code}: {message}"), Some(hint)),
            Finding::Unknown { why } => ("unknown", why.clone(), None),
            Finding::Skipped { why } => ("skipped", why.clone(), None),
        };
        text += format!("{word:8} {check:width$}  {detail}").trim_end();
        text += "\n";
        if let Some(hint) = hint {
            text += &format!("{:8} {:width$}  hint: {hint}\n", "", "");
        }
    }
    text
}
