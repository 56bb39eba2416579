//! Why nothing was sealed, or what was sealed cannot be used.

use std::path::PathBuf;

use explain::{Code, Explain};
use host::HostError;
use jiff::Timestamp;
use pki::{NoPin, PkiErrors};

use crate::{
    codes,
    secret::{BadSecret, NoRandomness},
};

/// What stands in the way of sealing, or of using what was sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// Every node would get it.
    #[error("cluster.yaml holds a bootstrap token, and every node's directory would hold it too")]
    Token,
    /// Sealing on would start a second cluster under the same name.
    #[error("the cluster's keys are in {held}, but they belong to `{first}`")]
    Elsewhere {
        /// The directory that has them.
        held: PathBuf,
        /// Whose directory should.
        first: String,
    },
    /// The first master's directory was moved to its machine.
    #[error("{sealed} was sealed earlier, but the cluster's keys are not in {expected}")]
    KeysMissing {
        /// A directory of an earlier sealing.
        sealed: PathBuf,
        /// Where the keys should be.
        expected: PathBuf,
    },
    /// No node could join.
    #[error("the secrets would expire at {expires}, and it is {now}")]
    Expiry {
        /// What was asked for.
        expires: Timestamp,
        /// This computer's time.
        now: Timestamp,
    },
    /// Not overwritten, because it may be all there is left.
    #[error("cannot use {path}")]
    Secret {
        /// The file.
        path: PathBuf,
        /// What it is not.
        #[source]
        source: BadSecret,
    },
    /// A sealed directory without one of its files.
    #[error("{path} is missing")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A sealed directory of which one file was exchanged.
    #[error("the CA {ca} does not match the pin in {pin}")]
    Pin {
        /// The certificate.
        ca: PathBuf,
        /// The file with the pin.
        pin: PathBuf,
    },
    /// The CA's certificate cannot be read.
    #[error("cannot use {path}")]
    Ca {
        /// The certificate.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: NoPin,
    },
    /// The CAs cannot be used or made.
    #[error("cannot make the cluster's CAs: {0}")]
    Pki(PkiErrors),
    /// A file cannot be read.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Nothing can be made without random bytes.
    #[error("cannot make the cluster's keys")]
    Randomness(#[from] NoRandomness),
}

impl From<PkiErrors> for SealError {
    fn from(errors: PkiErrors) -> Self {
        Self::Pki(errors)
    }
}

impl Explain for SealError {
    fn code(&self) -> Code {
        match self {
            Self::Token => codes::SEAL_TOKEN,
            Self::Elsewhere { .. } => codes::SEAL_ELSEWHERE,
            Self::KeysMissing { .. } => codes::SEAL_KEYS,
            Self::Expiry { .. } => codes::SEAL_EXPIRY,
            Self::Secret { .. } => codes::BAD_SECRET,
            Self::Missing { .. } | Self::Ca { .. } => codes::INCOMPLETE,
            Self::Pin { .. } => codes::WRONG_PIN,
            Self::Pki(errors) => errors.code(),
            Self::Host(error) => error.code(),
            Self::Randomness(_) => codes::OWN_KEY,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Pki(errors) => errors.hint(),
            Self::Host(error) => error.hint(),
            _ => None,
        }
    }
}
