//! What can go wrong with Ceph.

use explain::{Code, Explain};
use host::CommandError;

use crate::{Fsid, NoRandomness, codes};

/// What can go wrong when Ceph is asked something.
#[derive(Debug, thiserror::Error)]
pub enum CephError {
    /// No monitor answered in time.
    #[error("Ceph's monitors have no quorum: {why}")]
    Silent {
        /// How that was seen.
        why: String,
    },
    /// The key is not the one that the monitors know.
    #[error("Ceph does not accept the key of {entity} in {keyring}")]
    Denied {
        /// Whose key.
        entity: String,
        /// Where it lies.
        keyring: String,
    },
    /// An answer that says no, or a program that is not there.
    #[error(transparent)]
    Command(CommandError),
    /// An answer that makes no sense.
    #[error("unexpected answer to `ceph {asked}`")]
    Garbled {
        /// What was asked.
        asked: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}

impl CephError {
    /// Whether it may pass by itself: monitors start, or find each other.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Silent { .. })
    }
}

impl Explain for CephError {
    fn code(&self) -> Code {
        match self {
            Self::Silent { .. } => codes::NO_ANSWER,
            Self::Denied { .. } => codes::DENIED,
            Self::Command(error @ CommandError::NotStarted { .. }) => error.code(),
            Self::Command(CommandError::Failed { .. }) => codes::COMMAND,
            Self::Garbled { .. } => codes::GARBLED,
        }
    }
}

/// Why there is no identity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoIdentity {
    /// What the Secret says.
    #[error(transparent)]
    Bad(#[from] BadIdentity),
    /// What a new one would need.
    #[error(transparent)]
    Randomness(#[from] NoRandomness),
    /// There is none, and there was one.
    #[error("the Secret of Ceph's identity is gone, and this machine belongs to the Ceph cluster {0} already")]
    Gone(Fsid),
    /// It is of a cluster that this machine does not belong to.
    #[error("the Secret of Ceph's identity names the Ceph cluster {named}, and this machine belongs to {own}")]
    Other {
        /// Whose it is.
        named: Fsid,
        /// What this machine belongs to.
        own: Fsid,
    },
}

impl Explain for NoIdentity {
    fn code(&self) -> Code {
        match self {
            Self::Bad(error) => error.code(),
            Self::Randomness(error) => error.code(),
            Self::Gone(_) => codes::BAD_IDENTITY,
            Self::Other { .. } => codes::OTHER_CLUSTER,
        }
    }

    fn hint(&self) -> Option<String> {
        let restore = "restore the Secret `kube-system/blackstart-ceph` from a backup; to start with an empty Ceph cluster \
                       instead, run `blackstart node reset` on every node of the old one";
        matches!(self, Self::Gone(_) | Self::Other { .. }).then(|| restore.to_owned())
    }
}

/// The Secret of Ceph's identity says something that this program never writes there. What it says is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` in the Secret of Ceph's identity is missing or malformed")]
pub struct BadIdentity {
    /// Which part of it.
    pub field: String,
}

impl BadIdentity {
    pub(crate) fn of(field: impl Into<String>) -> Self {
        Self { field: field.into() }
    }
}

impl Explain for BadIdentity {
    fn code(&self) -> Code {
        codes::BAD_IDENTITY
    }
}
