//! What can go wrong around the work on a node. Nothing of it ends the pod but what is wrong with the pod itself.

use std::{io, path::PathBuf};

use explain::{Code, Explain};
use host::{CommandError, HostError};
use kubeapi::ApiError;

use crate::codes;

/// What can go wrong around the work on a node.
#[derive(Debug, thiserror::Error)]
pub enum PodError {
    /// The downward API did not say.
    #[error("the variable NODE_NAME is not set")]
    NoNodeName,
    /// A variable that makes no sense.
    #[error("the variable {name} is {value:?}: {why}")]
    BadSetting {
        /// Its name.
        name: &'static str,
        /// What it holds.
        value: String,
        /// What it should be.
        why: &'static str,
    },
    /// The node's file system is not mounted.
    #[error("{} holds no file system of a node", .0.display())]
    NoHost(PathBuf),
    /// A file could not be put on the node.
    #[error("cannot put {} in place on the node", path.display())]
    NotPut {
        /// Where on the node.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: HostError,
    },
    /// The node could not be looked at.
    #[error(transparent)]
    Host(#[from] HostError),
    /// systemd of the node did not do what it should.
    #[error("systemd on the node refused the request")]
    Systemd(#[source] CommandError),
    /// The journal cannot be followed.
    #[error("cannot follow the node's journal")]
    Journal(#[source] io::Error),
    /// A report that is none.
    #[error("cannot parse {} of the node: {why}", path.display())]
    BadReport {
        /// Where on the node.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A run left no report.
    #[error("{unit} has ended without a report of this run")]
    NoReport {
        /// The unit.
        unit: String,
    },
    /// A run was killed.
    #[error("{unit} was interrupted")]
    Killed {
        /// The unit.
        unit: String,
    },
    /// The API refused, or did not answer.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// Not in a pod, or without a service account.
    #[error("cannot use the pod's service account: {0}")]
    NoAccount(String),
    /// A port is taken.
    #[error("cannot offer metrics on port {port}")]
    Metrics {
        /// Which.
        port: u16,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The pod would not hear that it is to stop.
    #[error("cannot install signal handlers")]
    Signals(#[source] io::Error),
}

impl Explain for PodError {
    fn code(&self) -> Code {
        match self {
            Self::NoNodeName => codes::NO_NODE_NAME,
            Self::BadSetting { .. } => codes::BAD_SETTING,
            Self::NoHost(_) => codes::NO_HOST,
            Self::NotPut { .. } => codes::NOT_PUT,
            Self::Host(error) => error.code(),
            Self::Systemd(_) | Self::Journal(_) => codes::NOT_STARTED,
            Self::BadReport { .. } => codes::BAD_REPORT,
            Self::NoReport { .. } => codes::NO_REPORT,
            Self::Killed { .. } => codes::KILLED,
            Self::Api(_) | Self::NoAccount(_) => codes::NO_API,
            Self::Metrics { .. } => codes::NO_METRICS,
            Self::Signals(_) => codes::SIGNALS,
        }
    }
}
