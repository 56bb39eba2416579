//! What can go wrong while TLS is set up.

use explain::{Code, Explain};

use crate::codes;

/// TLS could not be set up with the certificates and keys that were given.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The text holds no certificate, or one that cannot be read.
    #[error("the {what} is not a readable PEM certificate")]
    Certificate {
        /// Whose it is: `ca`, `server certificate`, …
        what: &'static str,
        /// The reader's error; nothing where there was no certificate at all.
        #[source]
        source: Option<rustls_pki_types::pem::Error>,
    },
    /// The text holds no private key, or one that cannot be read.
    #[error("the key of the {what} is not a readable PEM key")]
    Key {
        /// Whose it is.
        what: &'static str,
        /// The reader's error.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// The key is not the one the certificate was made for.
    #[error("the {what} and its key do not belong together")]
    Mismatch {
        /// Whose they are.
        what: &'static str,
    },
    /// rustls does not take what was given.
    #[error("the {what} cannot be used for TLS")]
    Unusable {
        /// Whose it is.
        what: &'static str,
        /// The error of rustls.
        #[source]
        source: rustls::Error,
    },
    /// The CA cannot be used to verify clients.
    #[error("client certificates cannot be verified with this CA")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
    /// The HTTP client could not be built.
    #[error("the HTTP client cannot be built")]
    Client(#[from] reqwest::Error),
    /// The port could not be listened on.
    #[error("the listening socket is unusable")]
    Socket(#[from] std::io::Error),
}

impl Explain for TlsError {
    fn code(&self) -> Code {
        match self {
            Self::Certificate { .. } | Self::Key { .. } => codes::UNREADABLE,
            Self::Mismatch { .. } => codes::MISMATCH,
            Self::Unusable { .. } | Self::Verifier(_) | Self::Client(_) | Self::Socket(_) => codes::SETUP,
        }
    }
}
