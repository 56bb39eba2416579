//! The outcomes of a preflight, for people and for scripts.

use serde::Serialize;

use super::Check;
use crate::{End, Finding, Kind, Outcome, Roles, When, show::entry};

/// One line per check: name and what it is about.
pub fn list(checks: &[Check]) -> String {
    crate::show::list(checks, |check| {
        let roles = if check.roles == Roles::Masters { "; masters only" } else { "" };
        let when = if check.when == When::FirstTime { "; first time only" } else { "" };
        format!("{}{roles}{when}", check.about)
    })
}

/// What is reported of a check: each of its findings, or that there is none.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    check: &'static str,
    #[serde(flatten)]
    says: Says<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
enum Says<'a> {
    Fine,
    Warning { message: &'a str, hint: &'a str },
    Problem { code: &'static str, message: &'a str, hint: &'a str },
    Unknown { why: &'a str },
    Skipped { why: &'a str },
}

impl<'a> Says<'a> {
    fn finding(finding: &'a Finding) -> Self {
        let (message, hint) = (finding.evidence.as_str(), finding.fix.as_str());
        match finding.kind {
            Kind::Warning => Self::Warning { message, hint },
            Kind::Cause | Kind::Symptom | Kind::Suspicion => Self::Problem { code: finding.id(), message, hint },
        }
    }
}

/// What is reported of each check, in their order.
pub fn lines(outcomes: &[Outcome]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for Outcome { check, end } in outcomes {
        let mut add = |says| lines.push(Line { check, says });
        match end {
            End::Checked(found) if found.is_empty() => add(Says::Fine),
            End::Checked(found) => found.iter().map(Says::finding).for_each(add),
            End::Inconclusive(why) => add(Says::Unknown { why }),
            End::Skipped(why) => add(Says::Skipped { why }),
        }
    }
    lines
}

/// One line per outcome, and one more where there is something to do.
pub fn show(outcomes: &[Outcome]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.check.len()).max().unwrap_or_default();
    let line = |Line { check, says }: Line<'_>| {
        let (word, seen, hint) = match says {
            Says::Fine => ("ok", String::new(), None),
            Says::Warning { message, hint } => ("warning", message.to_owned(), Some(hint)),
            Says::Problem { code, message, hint } => ("problem", format!("{code}: {message}"), Some(hint)),
            Says::Unknown { why } => ("unknown", why.to_owned(), None),
            Says::Skipped { why } => ("skipped", why.to_owned(), None),
        };
        let notes: Vec<String> = hint.iter().map(|hint| format!("hint: {hint}")).collect();
        entry(word, &format!("{check:width$}  "), &seen, &notes)
    };
    lines(outcomes).into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use explain::Code;

    use super::*;
    use crate::preflight::{advice, problem};

    #[test]
    fn scripts_get_one_object_per_line() {
        let code = Code { fix: "fix", ..crate::codes::DISK_SLOW };
        let ends = [
            Vec::new().into(),
            advice("seen", "do").into(),
            problem(code, "slow").into(),
            End::Inconclusive("no /proc".into()),
            End::Skipped("as asked".into()),
        ];
        let outcomes = ends.map(|end| Outcome { check: "case", end });
        let lines: Vec<String> = lines(&outcomes).iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"check":"case","finding":"fine"}
        {"check":"case","finding":"warning","message":"seen","hint":"do"}
        {"check":"case","finding":"problem","code":"BS-PRE-013","message":"slow","hint":"fix"}
        {"check":"case","finding":"unknown","why":"no /proc"}
        {"check":"case","finding":"skipped","why":"as asked"}
        "#);
    }
}
