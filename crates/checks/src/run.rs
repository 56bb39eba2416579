//! Runs checks: all at once, none longer than its limit.

use std::{ops::Deref, time::Duration};

use futures::future::join_all;
use tokio::time::timeout;

use crate::{Check, Finding, Inconclusive, Kind, Subject};

/// A check with how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The check's name.
    pub check: &'static str,
    /// How it ended.
    pub end: End,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It found these; nothing where all is well.
    Checked(Vec<Finding>),
    /// It could not check, and why.
    Inconclusive(String),
    /// It was not run, and why.
    Skipped(String),
}

impl Outcome {
    /// What it found and must be fixed.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        self.found().filter(|finding| finding.kind != Kind::Warning)
    }

    /// What it found and is good to know.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.found().filter(|finding| finding.kind == Kind::Warning)
    }

    fn found(&self) -> impl Iterator<Item = &Finding> {
        let found = if let End::Checked(found) = &self.end { found.as_slice() } else { &[] };
        found.iter()
    }
}

impl From<Result<Vec<Finding>, Inconclusive>> for End {
    fn from(checked: Result<Vec<Finding>, Inconclusive>) -> Self {
        checked.map_or_else(|Inconclusive(why)| Self::Inconclusive(why), Self::Checked)
    }
}

impl From<Vec<Finding>> for End {
    fn from(found: Vec<Finding>) -> Self {
        Self::Checked(found)
    }
}

/// Runs the checks that are meant for this node, except those for which `instead` has another end. The outcomes come in the
/// order of the checks; one that is for other nodes is left out.
pub async fn run<'a, C: Deref<Target = Subject> + 'a>(
    checks: impl IntoIterator<Item = &'a Check<C>>,
    context: &C,
    limit: Duration,
    instead: impl Fn(&Check<C>) -> Option<End>,
) -> Vec<Outcome> {
    run_all(checks.into_iter().filter(|check| check.roles.include(context.role())), context, limit, instead).await
}

/// The same for all of these checks, whatever role they are for: where a machine has none.
pub async fn run_all<'a, C: 'a>(
    checks: impl IntoIterator<Item = &'a Check<C>>,
    context: &C,
    limit: Duration,
    instead: impl Fn(&Check<C>) -> Option<End>,
) -> Vec<Outcome> {
    let outcomes = checks.into_iter().map(async |check| {
        let end = match instead(check) {
            Some(end) => end,
            None => match timeout(limit, (check.run)(context)).await {
                Ok(checked) => checked.into(),
                Err(_) => End::Inconclusive(format!("no answer within {} s", limit.as_secs())),
            },
        };
        Outcome { check: check.name, end }
    });
    join_all(outcomes).await
}
