//! A client from a kubeconfig.

use std::time::Duration;

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::ApiError;

const CONNECT: Duration = Duration::from_secs(5);
const READ: Duration = Duration::from_secs(30);

/// A client for the cluster that a kubeconfig names. Nothing is sent yet.
pub async fn connect(kubeconfig: &str) -> Result<Client, ApiError> {
    let unusable = |error: &dyn std::error::Error| ApiError::Kubeconfig(error.to_string());
    let file = Kubeconfig::from_yaml(kubeconfig).map_err(|error| unusable(&error))?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    let mut config = config.map_err(|error| unusable(&error))?;
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(READ);
    // Whatever proxy the environment names, the cluster's own API is not behind it.
    config.proxy_url = None;
    Client::try_from(config).map_err(|error| unusable(&error))
}
