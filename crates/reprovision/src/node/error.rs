//! What stops the node's own program; what goes wrong in the work itself is in its report.

use engine::{LockError, PlaybookError, RunError, StepError};
use explain::{Code, Explain};
use host::HostError;
use kubeapi::ApiError;

use crate::codes;

/// What stops the node's own program.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// What the node knows of its run cannot be read.
    #[error("cannot read the note of the run: {0}")]
    BadNote(String),
    /// No kubeconfig of a kubelet was found at these places.
    #[error("no kubeconfig of the kubelet at {0}")]
    NoKubeconfig(String),
    /// The node may not read its Secret.
    #[error("cannot read Secret {name}")]
    NoSecret {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: ApiError,
    },
    /// The machine.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Another process is at work.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The API.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// A step.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A run as a whole.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A list of steps.
    #[error(transparent)]
    Playbook(#[from] PlaybookError),
}

impl Explain for NodeError {
    fn code(&self) -> Code {
        match self {
            Self::BadNote(_) => codes::BAD_NOTE,
            Self::NoKubeconfig(_) => codes::NO_KUBECONFIG,
            Self::NoSecret { .. } => codes::NO_SECRET_ACCESS,
            Self::Host(error) => error.code(),
            Self::Lock(error) => error.code(),
            Self::Api(error) => error.code(),
            Self::Step(error) => error.code(),
            Self::Run(error) => error.code(),
            Self::Playbook(error) => error.code(),
        }
    }
}
