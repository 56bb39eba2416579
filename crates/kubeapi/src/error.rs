//! What can go wrong with the API.

use explain::{Code, Explain};

use crate::codes;

/// What can go wrong with the API.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The kubeconfig is of no use.
    #[error("cannot use the kubeconfig: {0}")]
    Kubeconfig(String),
    /// No answer.
    #[error("cannot {doing}: the API server does not answer: {why}")]
    Unreachable {
        /// What was being done.
        doing: String,
        /// The connection's error.
        why: String,
    },
    /// An answer that says no.
    #[error("cannot {doing}: {status} {message}")]
    Refused {
        /// What was being done.
        doing: String,
        /// The HTTP status.
        status: u16,
        /// The API server's message.
        message: String,
    },
    /// The API server has never heard of it.
    #[error("the API server knows no {kind} of {version}")]
    UnknownKind {
        /// For example `apps/v1`.
        version: String,
        /// For example `Deployment`.
        kind: String,
    },
    /// A manifest that is none.
    #[error("{origin}: {why}")]
    Manifest {
        /// File and document.
        origin: String,
        /// What is wrong with it.
        why: String,
    },
}

impl ApiError {
    /// From the client library, whose errors say "client error" on the outside and why at the very inside.
    pub fn of(doing: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let doing = doing.into();
        move |error| match error {
            kube::Error::Api(status) => Self::Refused { doing, status: status.code, message: status.message },
            other => Self::Unreachable { doing, why: innermost(&other) },
        }
    }

    /// Whether trying again later may help: the server is starting, or busy, or away.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            // Of masters that apply the same Service at once, one has its address first; the others find it there.
            Self::Refused { status: 422, message, .. } => message.contains("IP is already allocated"),
            Self::Refused { status, .. } => matches!(status, 401 | 403 | 409 | 429 | 500..=599),
            Self::Kubeconfig(_) | Self::UnknownKind { .. } | Self::Manifest { .. } => false,
        }
    }
}

/// What was done to an object; `None` if the object was gone already, which is as good where it is to go.
pub fn unless_gone<T>(done: Result<T, kube::Error>, doing: impl Into<String>) -> Result<Option<T>, ApiError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(ApiError::of(doing)(error)),
    }
}

fn innermost(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.last().unwrap_or(error).to_string()
}

impl Explain for ApiError {
    fn code(&self) -> Code {
        match self {
            Self::Kubeconfig(_) => codes::KUBECONFIG,
            Self::Unreachable { .. } => codes::UNREACHABLE,
            Self::Refused { .. } => codes::REFUSED,
            Self::UnknownKind { .. } => codes::UNKNOWN_KIND,
            Self::Manifest { .. } => codes::MANIFEST,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_by_itself() {
        let refused =
            |status, message: &str| ApiError::Refused { doing: "apply".into(), status, message: message.into() };
        for (status, message, expected) in [
            (409, "the object has been modified", true),
            (503, "not ready", true),
            (422, "spec.clusterIPs: failed to allocate IP 10.96.0.10: provided IP is already allocated", true),
            (422, "spec.ports: Required value", false),
            (404, "not found", false),
        ] {
            assert_eq!(refused(status, message).is_transient(), expected, "{status} {message}");
        }
    }
}
