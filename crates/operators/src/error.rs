//! What can go wrong with the conditions of a cluster.

use std::io;

use explain::{Code, Explain};
use kubeapi::ApiError;

use crate::codes;

/// What can go wrong with the conditions of a cluster.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// There is no service account in this pod, or this is no pod.
    #[error("cannot use the pod's service account: {0}")]
    NoAccount(String),
    /// The process would not notice that it is to end.
    #[error("cannot listen to signals")]
    Signals(#[source] io::Error),
    /// The API did not do what it should.
    #[error(transparent)]
    Api(#[from] ApiError),
}

impl Explain for OperatorError {
    fn code(&self) -> Code {
        match self {
            Self::NoAccount(_) => codes::NO_ACCOUNT,
            Self::Signals(_) => codes::SIGNALS,
            Self::Api(error) => error.code(),
        }
    }
}
