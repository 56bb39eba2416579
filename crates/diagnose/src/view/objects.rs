//! The objects of the API, read with the node's own credentials and a short timeout.

use std::{path::PathBuf, time::Duration};

use kubeapi::{ApiError, Client, kube};
use tokio::time::timeout;

use crate::Inconclusive;

/// One request; a balancer without a healthy master holds a connection much longer.
const LIMIT: Duration = Duration::from_secs(3);

const NO_ANSWER: &str = "the API does not answer";

/// A way to the API, or why there is none.
pub(crate) struct Objects {
    /// The kubeconfig it is made from.
    pub(crate) kubeconfig: PathBuf,
    client: Result<Client, String>,
}

/// Why an object could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The API server refuses who we are, or what we ask for.
    Refused {
        /// 401 or 403.
        status: u16,
        /// Its words.
        message: String,
    },
    /// Whatever else, most often that no API server answers.
    Other(String),
}

impl Objects {
    /// With this kubeconfig, of which this is the text.
    pub(crate) async fn new(kubeconfig: PathBuf, text: Option<&str>) -> Self {
        tls::install_provider();
        let client = match text {
            Some(text) => kubeapi::connect(text).await.map_err(|error| error.to_string()),
            None => Err(format!("{} is not there", kubeconfig.display())),
        };
        Self { kubeconfig, client }
    }

    /// The client itself, for what needs more than one request.
    pub(crate) fn client(&self) -> Result<&Client, Unread> {
        self.client.as_ref().map_err(|why| Unread::Other(why.clone()))
    }

    /// Makes one request.
    pub(crate) async fn ask<T>(
        &self,
        doing: &str,
        request: impl AsyncFnOnce(Client) -> Result<T, kube::Error>,
    ) -> Result<T, Unread> {
        let client = self.client()?.clone();
        match timeout(LIMIT, request(client)).await {
            Ok(answer) => answer.map_err(|error| ApiError::of(doing)(error).into()),
            // The same words for all, so that they are reported once.
            Err(_) => Err(Unread::Other(NO_ANSWER.to_owned())),
        }
    }
}

impl From<ApiError> for Unread {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Refused { status: status @ (401 | 403), message, .. } => Self::Refused { status, message },
            ApiError::Unreachable { .. } => Self::Other(NO_ANSWER.to_owned()),
            other => Self::Other(other.to_string()),
        }
    }
}

impl From<Unread> for Inconclusive {
    fn from(unread: Unread) -> Self {
        Self(match unread {
            Unread::Refused { status, message } => format!("the API server answers {status}: {message}"),
            Unread::Other(why) => why,
        })
    }
}
