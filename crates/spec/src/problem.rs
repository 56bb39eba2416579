//! One thing that is wrong with a description, in the form that people and scripts see.

use explain::Diagnostic;
use serde::Serialize;

/// One thing that is wrong, and what to do about it. No field ever holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What was seen, and what to do about it.
    #[serde(flatten)]
    pub diagnostic: Diagnostic,
    /// Whether it stops the cluster from being used.
    pub severity: Severity,
    /// The file, as it was named by the user.
    pub file: String,
    /// Where in the file; `None` for the file as a whole.
    pub position: Option<Position>,
    /// The offending text, shortened if long.
    pub text: Option<String>,
    /// A second place that matters, such as the first of two equal names.
    pub also: Option<Also>,
    /// The source line, for the report.
    #[serde(skip)]
    pub(crate) excerpt: Option<Excerpt>,
}

/// Whether a problem stops the cluster from being used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The description cannot be used.
    Error,
    /// It can, but probably should not.
    Warning,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
}

/// A second place that matters for a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Also {
    /// The file, as it was named by the user.
    pub file: String,
    /// Where in the file; `None` for the file as a whole.
    pub position: Option<Position>,
    /// What is there.
    pub label: String,
    /// The source line, for the report.
    #[serde(skip)]
    pub(crate) excerpt: Option<Excerpt>,
}

/// The part of a source line that is worth showing, and which characters of it are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// Printable, without a line end and without secrets.
    pub(crate) line: String,
    /// Characters in front of the marked ones.
    pub(crate) before: usize,
    /// How many characters are marked; at least one.
    pub(crate) marked: usize,
}

impl Problem {
    /// Reading order: by file, line and column.
    pub(crate) fn order(&self) -> impl Ord + '_ {
        (&self.file, self.position, self.diagnostic.code.id, &self.diagnostic.message)
    }
}
