//! An error at the edge: what it says, and the exit code it ends with.

use engine::StepError;
use explain::{Code, Explain};

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
    /// The stable code.
    pub code: Code,
    /// What was seen, with its causes.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Failure {
    /// Something failed.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, code, message: message.into(), hint: code.fix.to_owned() }
    }

    /// The command line asks for something that cannot be.
    pub fn usage(code: Code, message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(code, message) }
    }

    /// What to do in this very case.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// A step that failed in a run that went on without it.
    pub fn in_step(step: &str, error: &StepError) -> Self {
        Self { hint: error.advice(), ..Self::new(error.code(), format!("step `{step}`: {}", explain::chain(error))) }
    }
}

impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { hint: error.advice(), ..Self::new(error.code(), explain::chain(&error)) }
    }
}
