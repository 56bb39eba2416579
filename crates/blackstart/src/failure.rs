//! An error at the edge: what it says, and the exit code it ends with.

use engine::StepError;
use explain::{Code, Diagnostic, Explain};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything is as wished.
    Done,
    /// Problems were found, or something failed.
    Failed,
    /// The command line is wrong.
    Usage,
    /// Stopped from outside.
    Interrupted,
    /// With the exit code of a command that was run for the user.
    Other(u8),
}

impl Exit {
    /// The number the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Interrupted => 130,
            Self::Other(code) => code,
        }
    }
}

/// An error on its way to the person.
#[derive(Debug)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// What it says.
    pub diagnostic: Diagnostic,
}

impl Failure {
    /// Something failed.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self::failed(Diagnostic::new(code, message))
    }

    fn failed(diagnostic: Diagnostic) -> Self {
        Self { exit: Exit::Failed, diagnostic }
    }

    /// The command line asks for something that cannot be.
    pub fn usage(code: Code, message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(code, message) }
    }

    /// What to do in this very case.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.diagnostic.hint = hint.into();
        self
    }

    /// A step that failed in a run that went on without it.
    pub fn in_step(step: &str, error: &StepError) -> Self {
        let diagnostic = error.diagnostic();
        Self::failed(Diagnostic { message: format!("step `{step}`: {}", diagnostic.message), ..diagnostic })
    }
}

impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::failed(error.diagnostic())
    }
}
