//! Something wrong with a payload, before anybody decides what comes of it.

use checks::{Finding, Part};
use engine::StepError;
use explain::{Code, Diagnostic, plain};

/// What is wrong, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) code: Code,
    pub(super) text: String,
}

impl Problem {
    /// The text may hold words of others.
    pub(super) fn new(code: Code, text: impl AsRef<str>) -> Self {
        Self { code, text: plain(text.as_ref()).into_owned() }
    }

    /// As a check reports it.
    pub(super) fn finding(&self) -> Finding {
        Finding::cause(self.code, Part::Machine, &self.text)
    }
}

/// All of them as the one error of a step, under the code of the first.
pub(super) fn error(problems: &[Problem]) -> StepError {
    let Some(first) = problems.first() else {
        return StepError::new(crate::codes::BAD_PAYLOAD, "the payload is refused without a reason");
    };
    let texts: Vec<&str> = problems.iter().map(|problem| problem.text.as_str()).collect();
    Diagnostic::new(first.code, texts.join("; ")).into()
}
