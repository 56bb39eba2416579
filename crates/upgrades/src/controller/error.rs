//! What the controller cannot do.

use std::io;

use explain::{Code, Explain};
use kubeapi::ApiError;
use operations::drain::DrainError;

use crate::codes;

/// What the controller cannot do.
#[derive(Debug, thiserror::Error)]
pub enum ControllerError {
    /// The pod has no service account.
    #[error("the pod has no usable service account: {0}")]
    NoAccount(String),
    /// Signals cannot be handled.
    #[error("cannot install a signal handler")]
    Signals(#[source] io::Error),
    /// How the pod is cannot be shown to its probes.
    #[error("cannot keep {file}")]
    NoSign {
        /// Where in the pod.
        file: &'static str,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The API.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// A node is not drained.
    #[error(transparent)]
    Drain(#[from] DrainError),
}

impl Explain for ControllerError {
    fn code(&self) -> Code {
        match self {
            Self::NoAccount(_) => codes::NO_ACCOUNT,
            Self::Signals(_) => codes::SIGNALS,
            Self::NoSign { .. } => codes::NO_SIGN,
            Self::Api(error) => error.code(),
            Self::Drain(error) => error.code(),
        }
    }
}
