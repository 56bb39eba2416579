//! The collector: checks say *where* and *what*; here that becomes a [`Problem`] with its file, text and source line.
//!
//! This is the one way from a finding to something printed, so it is also where secrets are masked.

use explain::{Code, Diagnostic};

use crate::{
    excerpt,
    location::Location,
    problem::{Also, Position, Problem, Severity},
    secret,
    source::{SourceFile, Sources},
};

/// More is not read; the bound keeps the memory for a hostile file small.
const MAX_PROBLEMS: usize = 10_000;

/// What a check found, before it is tied to the text of the files.
#[derive(Debug)]
pub(crate) struct Finding {
    diagnostic: Diagnostic,
    severity: Severity,
    location: Location,
    also: Option<(Location, String)>,
    secret: bool,
}

impl Finding {
    /// Something that must be corrected.
    pub(crate) fn error(code: Code, location: Location, message: impl Into<String>) -> Self {
        Self::explained(Diagnostic::new(code, message), location)
    }

    /// The same, where code and advice are known.
    pub(crate) fn explained(diagnostic: Diagnostic, location: Location) -> Self {
        Self { diagnostic, severity: Severity::Error, location, also: None, secret: false }
    }

    /// Something that works, but probably should be different.
    pub(crate) fn warning(code: Code, location: Location, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, location, message) }
    }

    /// What to do in this very case, instead of the code's own advice.
    pub(crate) fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        if let Some(hint) = hint.into() {
            self.diagnostic.hint = hint;
        }
        self
    }

    /// A second place that matters, and what is there.
    pub(crate) fn also(mut self, location: Location, label: impl Into<String>) -> Self {
        self.also = Some((location, label.into()));
        self
    }

    /// The text at the place must not be shown.
    pub(crate) fn secret(mut self, secret: bool) -> Self {
        self.secret = secret;
        self
    }
}

/// Collects everything that is wrong with a set of files.
pub(crate) struct Problems<'a> {
    sources: &'a Sources,
    found: Vec<Problem>,
    errors: usize,
    left_out: bool,
}

impl<'a> Problems<'a> {
    pub(crate) fn of(sources: &'a Sources) -> Self {
        Self { sources, found: Vec::new(), errors: 0, left_out: false }
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        let is_error = finding.severity == Severity::Error;
        self.errors += usize::from(is_error);
        match self.found.len() {
            length if length < MAX_PROBLEMS => {
                let problem = self.locate(finding);
                self.found.push(problem);
            }
            _ if !self.left_out => {
                self.left_out = true;
                let message = format!("there are more than {MAX_PROBLEMS} problems; the rest is left out");
                let problem = self.locate(Finding::error(
                    crate::codes::TOO_MANY,
                    Location::whole(finding.location.file),
                    message,
                ));
                self.found.push(problem);
            }
            _ => {}
        }
    }

    /// How many errors were found so far.
    pub(crate) fn errors(&self) -> usize {
        self.errors
    }

    /// Sorted by file, line and column. What is reached through several aliases is reported once.
    pub(crate) fn finish(mut self) -> Vec<Problem> {
        self.found.sort_by(|a, b| a.order().cmp(&b.order()));
        self.found.dedup();
        self.found
    }

    fn locate(&self, finding: Finding) -> Problem {
        let Finding { diagnostic: Diagnostic { code, message, hint }, severity, location, also, secret } = finding;
        let source = self.sources.file(location.file);
        let text = text_of(source);
        Problem {
            diagnostic: Diagnostic { code, message: secret::masked(&message), hint: secret::masked(&hint) },
            severity,
            file: name_of(source),
            position: position(location),
            text: location.span.map(|span| {
                if secret { secret::described(excerpt::slice(text, span)) } else { excerpt::shortened(text, span) }
            }),
            also: also.map(|(location, label)| {
                let source = self.sources.file(location.file);
                Also {
                    file: name_of(source),
                    position: position(location),
                    label: secret::masked(&label),
                    excerpt: location.span.map(|span| excerpt::around(text_of(source), span)),
                }
            }),
            excerpt: location.span.map(|span| {
                let excerpt = excerpt::around(text, span);
                if secret { excerpt::hidden(&excerpt) } else { excerpt }
            }),
        }
    }
}

fn position(location: Location) -> Option<Position> {
    location.span.map(|span| Position { line: span.line, column: span.column })
}

fn text_of(source: Option<&SourceFile>) -> &str {
    source.and_then(|source| source.text.as_deref().ok()).unwrap_or_default()
}

fn name_of(source: Option<&SourceFile>) -> String {
    source.map(|source| source.name.clone()).unwrap_or_default()
}
