//! Why a step, or what undoes it, failed.

use std::{error::Error, fmt, path::Path, pin::Pin};

use explain::{Code, Diagnostic, Explain};
use host::{CommandError, HostError};

use crate::codes;

/// What a step or an undo does, without its type.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, StepError>> + Send + 'a>>;

/// A failed step: what was seen, the code, what to do.
#[derive(Debug)]
pub struct StepError {
    diagnostic: Diagnostic,
    retry: bool,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StepError {
    /// An error that another attempt would not fix.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Diagnostic::new(code, message).into()
    }

    /// An error of a lower layer, with its code, hint and chain.
    pub fn from_explained(error: &impl Explain) -> Self {
        error.diagnostic().into()
    }

    /// Says that trying again may help: a network that is not there yet, a lock that is held.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retry = true;
        self
    }

    /// What to do in this very case.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.diagnostic.hint = hint.into();
        self
    }

    /// The cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Whether another attempt may help.
    pub fn is_retryable(&self) -> bool {
        self.retry
    }

    pub(crate) fn no_such_action(key: &str) -> Self {
        Self::new(codes::NO_SUCH_ACTION, format!("the step does not know how to apply `{key}`"))
    }

    pub(crate) fn not_planned(key: &str, path: &Path) -> Self {
        Self::new(codes::NOT_PLANNED, format!("`{key}` would write {}, which its plan does not name", path.display()))
    }

    pub(crate) fn no_such_step(step: &str, key: &str) -> Self {
        let message = format!("the playbook has no step `{step}` any more, so `{key}` cannot be undone");
        Self::new(codes::NO_SUCH_ACTION, message)
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl Error for StepError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl Explain for StepError {
    fn code(&self) -> Code {
        self.diagnostic.code
    }

    fn hint(&self) -> Option<String> {
        Some(self.diagnostic.hint.clone())
    }
}

impl From<Diagnostic> for StepError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, retry: false, source: None }
    }
}

impl From<CommandError> for StepError {
    fn from(error: CommandError) -> Self {
        Self::from_explained(&error)
    }
}

impl From<HostError> for StepError {
    fn from(error: HostError) -> Self {
        Self::from_explained(&error)
    }
}
