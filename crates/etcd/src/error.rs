//! What can go wrong with etcd.

use explain::{Code, Explain};
use serde::Deserialize;

use crate::codes;

/// What can go wrong with etcd.
#[derive(Debug, thiserror::Error)]
pub enum EtcdError {
    /// No answer.
    #[error("no answer from {url}")]
    Unreachable {
        /// Where.
        url: String,
        /// The connection's error.
        #[source]
        source: reqwest::Error,
    },
    /// An answer that says no.
    #[error("{url} answered {status}: {message}")]
    Refused {
        /// Where.
        url: String,
        /// The HTTP status.
        status: u16,
        /// etcd's message.
        message: String,
    },
    /// An answer that makes no sense.
    #[error("unexpected answer from {url}")]
    Garbled {
        /// Where.
        url: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A snapshot that ended before its end.
    #[error("{url} sent {received} of {size} bytes and then no more")]
    CutShort {
        /// Where.
        url: String,
        /// How much came.
        received: u64,
        /// How much was announced.
        size: u64,
    },
}

impl EtcdError {
    /// The gateway's errors are JSON with a message; anything else is shown as it is.
    pub(crate) fn refused(url: &str, status: u16, body: &str) -> Self {
        #[derive(Deserialize)]
        struct Body {
            message: String,
        }
        let message = serde_json::from_str(body).map_or_else(|_| body.trim().to_owned(), |Body { message }| message);
        Self::Refused { url: url.to_owned(), status, message }
    }
}

impl Explain for EtcdError {
    fn code(&self) -> Code {
        match self {
            Self::Unreachable { .. } => codes::UNREACHABLE,
            Self::Refused { .. } => codes::REFUSED,
            Self::Garbled { .. } => codes::GARBLED,
            Self::CutShort { .. } => codes::BAD_SNAPSHOT,
        }
    }
}
