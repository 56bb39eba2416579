//! What can go wrong at the door. Nothing of it ends the pod but what is wrong with the pod itself.

use std::{io, path::PathBuf};

use explain::{Code, Explain};
use host::{CommandError, HostError};
use kubeapi::ApiError;

use crate::codes;

/// What can go wrong at the door.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// The node's file system is not mounted.
    #[error("{} holds no file system of a node", nodekit::from_pod::HOST)]
    NoHost,
    /// A file could not be put on the node.
    #[error("cannot put {} in place on the node", path.display())]
    NotPut {
        /// Where on the node.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: HostError,
    },
    /// systemd of the node did not do what it should.
    #[error("systemd on the node refused the request")]
    Systemd(#[source] CommandError),
    /// The pod has no service account.
    #[error("the pod has no usable service account: {0}")]
    NoAccount(String),
    /// The API.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// How the pod is cannot be shown to its probes.
    #[error("cannot keep {file}")]
    NoSign {
        /// Where in the pod.
        file: &'static str,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Signals cannot be handled.
    #[error("cannot install a signal handler")]
    Signals(#[source] io::Error),
}

impl Explain for DoorError {
    fn code(&self) -> Code {
        match self {
            Self::NoHost => codes::NO_HOST,
            Self::NotPut { .. } => codes::NOT_PUT,
            Self::Systemd(_) => codes::NOT_STARTED,
            Self::NoAccount(_) => codes::NO_ACCOUNT,
            Self::Api(error) => error.code(),
            Self::NoSign { .. } => codes::NO_SIGN,
            Self::Signals(_) => codes::SIGNALS,
        }
    }
}
