//! The Kubernetes API, as steps see it: not there yet, or a client.

use std::path::PathBuf;

use engine::StepError;
use host::Host;
use kubeapi::{ApiError, Client};
use tokio::sync::OnceCell;

/// A way to the API by a kubeconfig of this machine.
pub(crate) struct Access {
    kubeconfig: PathBuf,
    has_short_timeout: bool,
    client: OnceCell<Client>,
}

impl Access {
    /// With this kubeconfig, which may not exist yet.
    pub(crate) fn new(kubeconfig: impl Into<PathBuf>) -> Self {
        Self { kubeconfig: kubeconfig.into(), has_short_timeout: false, client: OnceCell::new() }
    }

    /// The same, with every answer passed on, also that the server is too busy.
    pub(crate) fn with_short_timeout(kubeconfig: impl Into<PathBuf>) -> Self {
        Self { has_short_timeout: true, ..Self::new(kubeconfig) }
    }

    /// The client; `None` where the kubeconfig is not there yet, or this is an image and not a machine.
    pub(crate) async fn client(&self, host: &Host) -> Result<Option<Client>, StepError> {
        if !host.is_live {
            return Ok(None);
        }
        if let Some(client) = self.client.get() {
            return Ok(Some(client.clone()));
        }
        let Some(text) = host.disk.read_optional(&self.kubeconfig)? else { return Ok(None) };
        tls::install_provider();
        let text = String::from_utf8_lossy(&text);
        let client = if self.has_short_timeout {
            kubeapi::connect_with_short_timeout(&text).await
        } else {
            kubeapi::connect(&text).await
        };
        let client = client.map_err(|error| StepError::from_explained(&error))?;
        Ok(Some(self.client.get_or_init(async || client).await.clone()))
    }

    /// The client, for a change that cannot be made without it.
    pub(crate) async fn required(&self, host: &Host) -> Result<Client, StepError> {
        let missing = || ApiError::Kubeconfig(format!("{} is not there", self.kubeconfig.display()));
        self.client(host).await?.ok_or_else(|| StepError::from_explained(&missing()))
    }
}

/// An error of the API for the engine: what may pass by itself is tried again.
pub(crate) fn failed(error: &ApiError) -> StepError {
    let step_error = StepError::from_explained(error);
    if error.is_transient() { step_error.retryable() } else { step_error }
}
