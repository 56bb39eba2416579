//! What is wrong with an Ignition config, each problem with line and column.
//!
//! ```text
//! json      text -> values that know their place     shape     the keys of the specification and their types
//! checks    what must hold beyond that               report    problems as text
//! ```
//! Stricter than Ignition's own validation, which lets keys pass that mean nothing, and knows nothing of keys and dates.

mod checks;
mod json;
mod report;
mod shape;

use explain::{Code, Diagnostic};
use jiff::Timestamp;
use serde::Serialize;

pub use report::report;

use crate::codes;

/// A config of ours takes less than a hundredth of it.
pub const MAX_BYTES: usize = 16 << 20;

/// One thing that is wrong. No field ever holds contents of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What was seen, and what to do about it.
    #[serde(flatten)]
    pub diagnostic: Diagnostic,
    /// The file, as it was named by the user.
    pub file: String,
    /// From one; 0 for the file as a whole.
    pub line: usize,
    /// From one, in characters; 0 for the file as a whole.
    pub column: usize,
}

impl Problem {
    /// About a file as a whole.
    pub fn whole(code: Code, file: &str, message: impl Into<String>) -> Self {
        Self { diagnostic: Diagnostic::new(code, message), file: file.to_owned(), line: 0, column: 0 }
    }
}

/// What a check found, at a byte of the text.
struct Found {
    diagnostic: Diagnostic,
    at: usize,
}

impl Found {
    fn new(code: Code, at: usize, message: impl Into<String>) -> Self {
        Self { diagnostic: Diagnostic::new(code, message), at }
    }

    fn hint(mut self, hint: String) -> Self {
        self.diagnostic.hint = hint;
        self
    }
}

/// All problems of a config, in reading order.
pub fn validate(file: &str, bytes: &[u8], now: Timestamp) -> Vec<Problem> {
    if bytes.len() > MAX_BYTES {
        let message = format!("{} MiB of at most {}", bytes.len() >> 20, MAX_BYTES >> 20);
        return vec![Problem::whole(codes::TOO_LARGE, file, message)];
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return vec![Problem::whole(codes::SYNTAX, file, "it is not UTF-8 text")];
    };
    let root = match json::read(text) {
        Ok(root) => root,
        Err(json::NotJson { line, column, why }) => {
            return vec![Problem { line, column, ..Problem::whole(codes::SYNTAX, file, why) }];
        }
    };
    let mut found = Vec::new();
    shape::compare(&root, &shape::CONFIG, "", &mut found);
    for check in checks::CHECKS {
        check(&root, now, &mut found);
    }
    found.sort_by_key(|found| (found.at, found.diagnostic.code.id));
    let problem = |Found { diagnostic, at }| {
        let (line, column) = json::position(text, at);
        Problem { diagnostic, file: file.to_owned(), line, column }
    };
    found.into_iter().map(problem).collect()
}
