//! What a check is, and the ways in which one can end.

use std::pin::Pin;

use explain::Code;
use serde::{Serialize, Serializer};
use spec::BootstrapRole;

use super::Context;
pub(super) use nodekit::checking::Inconclusive;

/// A check, as data and a function.
#[derive(Clone, Copy, Serialize)]
pub struct Check {
    /// Stable, kebab-case: what `--skip` takes.
    pub name: &'static str,
    /// What must be true, in one line.
    pub about: &'static str,
    /// The nodes it is for.
    pub roles: Roles,
    /// The time it is for.
    pub when: When,
    #[serde(skip)]
    pub(super) run: for<'a> fn(&'a Context<'a>) -> Checking<'a>,
}

/// A check at work.
pub(super) type Checking<'a> = Pin<Box<dyn Future<Output = Result<Finding, Inconclusive>> + Send + 'a>>;

/// The nodes a check is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Roles {
    /// Every node.
    All,
    /// Nodes that run etcd and the control plane.
    Masters,
}

impl Roles {
    /// Whether a node of that role is among them.
    pub fn include(self, role: BootstrapRole) -> bool {
        match self {
            Self::All => true,
            Self::Masters => role.is_master(),
        }
    }
}

/// The time a check is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Every run.
    Always,
    /// Only until the machine passed once. Later the answer would be about ourselves: our own etcd slows the disk down
    /// that is measured, our own files look like a cluster.
    FirstTime,
}

/// How a check ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Finding {
    /// As it should be.
    Fine,
    /// The cluster will work, but somebody should know.
    Warning {
        /// What was seen.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The cluster would not work, or harm would be done.
    Problem {
        /// The stable code.
        #[serde(serialize_with = "id")]
        code: Code,
        /// What was seen.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The check could not look.
    Unknown {
        /// Why not.
        why: String,
    },
    /// The check was not run.
    Skipped {
        /// Why not.
        why: String,
    },
}

fn id<S: Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.id)
}

impl Finding {
    /// A problem whose advice is that of its code.
    pub(super) fn problem(code: Code, message: impl Into<String>) -> Self {
        Self::Problem { code, message: message.into(), hint: code.fix.to_owned() }
    }

    /// A warning.
    pub(super) fn warning(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Warning { message: message.into(), hint: hint.into() }
    }
}

impl From<Result<Finding, Inconclusive>> for Finding {
    fn from(checked: Result<Finding, Inconclusive>) -> Self {
        checked.unwrap_or_else(|Inconclusive(why)| Self::Unknown { why })
    }
}

/// A check with how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The check's name.
    pub check: &'static str,
    /// How it ended.
    #[serde(flatten)]
    pub finding: Finding,
}

/// What a person would read of these findings.
#[cfg(test)]
pub(super) fn reported(findings: impl IntoIterator<Item = impl Into<Finding>>) -> String {
    let outcome = |finding: Finding| Outcome { check: "case", finding };
    super::show(&findings.into_iter().map(Into::into).map(outcome).collect::<Vec<_>>())
}
