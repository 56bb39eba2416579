//! Why a node is not in.

use std::net::SocketAddr;

use explain::{Code, Diagnostic, Explain};
use jiff::Timestamp;
use tls::TlsError;

use crate::{codes, secret::NoRandomness};

/// A master that could not be reached.
#[derive(Debug, Clone)]
pub struct Unreached {
    /// Which.
    pub master: SocketAddr,
    /// Since when, as far as this client knows.
    pub since: Timestamp,
    /// The system's error.
    pub why: String,
}

/// A refusal as it was received.
#[derive(Debug, Clone)]
pub struct Refused {
    /// By whom.
    pub master: SocketAddr,
    /// What it saw and advises; the code is the same as in that master's journal.
    pub diagnostic: Diagnostic,
    /// True if it may be granted later.
    pub retryable: bool,
}

/// Why a request to the cluster's masters failed.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// No master was there.
    #[error("cannot reach {}", listed(tried))]
    Unreachable {
        /// Every master that was tried.
        tried: Vec<Unreached>,
    },
    /// Reached and not believed: another cluster, or an attacker in between.
    #[error("the certificate of the master at {master} was signed by another CA than this node trusts")]
    WrongCa {
        /// Which.
        master: SocketAddr,
    },
    /// Reached and not believed.
    #[error("the certificate of the master at {master} is not good for that address")]
    Untrusted {
        /// Which.
        master: SocketAddr,
    },
    /// Reached and not believed at this time.
    #[error("the certificate of the master at {master} is not valid at this machine's time")]
    Clock {
        /// Which.
        master: SocketAddr,
    },
    /// The server that answered does not know the token.
    #[error("the server at {master} does not know the token's secret")]
    UnprovenCa {
        /// Where.
        master: SocketAddr,
    },
    /// Another cluster's master.
    #[error("the master at {master} is of cluster `{found}`, not of `{expected}`")]
    WrongCluster {
        /// Which.
        master: SocketAddr,
        /// Its cluster.
        found: String,
        /// This node's.
        expected: String,
    },
    /// Something else listens there.
    #[error("unexpected answer from {master}: {why}")]
    Answer {
        /// Which.
        master: SocketAddr,
        /// What is wrong with it.
        why: String,
    },
    /// The server that answered does not know this node's secret.
    #[error("the answer from {master} cannot be opened with this node's secret")]
    Envelope {
        /// Which.
        master: SocketAddr,
    },
    /// The master refused.
    #[error("refused by the master at {}: {}", .0.master, .0.diagnostic.message)]
    Refused(Box<Refused>),
    /// TLS could not be set up.
    #[error("cannot set up TLS")]
    Tls(#[from] TlsError),
    /// The node's own keys could not be made.
    #[error("cannot make keys for this node")]
    Keys(#[from] rcgen::Error),
    /// Nothing can be made without random bytes.
    #[error("cannot make keys for this node")]
    Randomness(#[from] NoRandomness),
}

impl JoinError {
    pub(super) fn unreached(master: SocketAddr, why: String) -> Self {
        Self::Unreachable { tried: vec![Unreached { master, since: Timestamp::now(), why }] }
    }

    /// True if waiting may help.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Clock { .. } => true,
            Self::Refused(refused) => refused.retryable,
            _ => false,
        }
    }

    /// True if no other master would say anything else.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Refused(refused) => !refused.retryable,
            Self::Tls(_) | Self::Keys(_) | Self::Randomness(_) => true,
            _ => false,
        }
    }
}

impl Explain for JoinError {
    fn code(&self) -> Code {
        match self {
            Self::Unreachable { .. } => codes::UNREACHABLE,
            Self::WrongCa { .. } => codes::WRONG_CA,
            Self::Untrusted { .. } => codes::UNTRUSTED,
            Self::Clock { .. } => codes::CLOCK,
            Self::UnprovenCa { .. } => codes::UNPROVEN_CA,
            Self::WrongCluster { .. } => codes::WRONG_CLUSTER,
            Self::Answer { .. } => codes::ANSWER,
            Self::Envelope { .. } => codes::ENVELOPE,
            Self::Refused(refused) => refused.diagnostic.code,
            Self::Tls(error) => error.code(),
            Self::Keys(_) | Self::Randomness(_) => codes::OWN_KEY,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(refused) => Some(refused.diagnostic.hint.clone()),
            Self::Tls(error) => error.hint(),
            _ => None,
        }
    }
}

fn listed(tried: &[Unreached]) -> String {
    if tried.is_empty() {
        return "any master: none is known".to_owned();
    }
    let one = |unreached: &Unreached| {
        let Unreached { master, since, why } = unreached;
        format!("the master at {master} (since {since:.0}: {why})")
    };
    tried.iter().map(one).collect::<Vec<_>>().join(", ")
}
