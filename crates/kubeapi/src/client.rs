//! A client from a kubeconfig.

use std::{error::Error, time::Duration};

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::ApiError;

const CONNECT: Duration = Duration::from_secs(5);
const READ: Duration = Duration::from_secs(30);

/// A client for the cluster that a kubeconfig names. Nothing is sent yet. A server that is busy is asked again, silently
/// and for as long as it wishes.
pub async fn connect(kubeconfig: &str) -> Result<Client, ApiError> {
    client(config(kubeconfig).await?)
}

/// The same, passing on every answer: for callers that ask again on their own, or wants to know why the server says "too
/// many requests", which is also how it says that a budget does not allow an eviction.
pub async fn connect_with_short_timeout(kubeconfig: &str) -> Result<Client, ApiError> {
    let mut config = config(kubeconfig).await?;
    config.default_retry = false;
    client(config)
}

/// The same as somebody else, with that one's rights and limits: for whoever may impersonate.
pub async fn connect_as(kubeconfig: &str, user: &str) -> Result<Client, ApiError> {
    let mut config = config(kubeconfig).await?;
    config.default_retry = false;
    config.auth_info.impersonate = Some(user.to_owned());
    client(config)
}

async fn config(kubeconfig: &str) -> Result<Config, ApiError> {
    let file = Kubeconfig::from_yaml(kubeconfig).map_err(|error| unusable(&error))?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    let mut config = config.map_err(|error| unusable(&error))?;
    config.connect_timeout = Some(CONNECT);
    config.read_timeout = Some(READ);
    // Whatever proxy the environment names, the cluster's own API is not behind it.
    config.proxy_url = None;
    Ok(config)
}

fn client(config: Config) -> Result<Client, ApiError> {
    Client::try_from(config).map_err(|error| unusable(&error))
}

fn unusable(error: &dyn Error) -> ApiError {
    ApiError::Kubeconfig(error.to_string())
}

#[cfg(test)]
mod tests {
    use axum::{
        Router,
        http::{HeaderMap, Request},
        routing::get,
    };
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn every_request_says_as_whom() {
        let asked_as = |headers: HeaderMap| async move {
            headers.get("impersonate-user").map_or_else(String::new, |user| user.to_str().unwrap().to_owned())
        };
        let router = Router::new().route("/version", get(asked_as));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let kubeconfig = format!(
            "clusters: [{{ name: c, cluster: {{ server: 'http://{server}' }} }}]\n\
             contexts: [{{ name: c, context: {{ cluster: c, user: u }} }}]\n\
             users: [{{ name: u, user: {{}} }}]\ncurrent-context: c\n"
        );
        for (client, expected) in [
            (connect(&kubeconfig).await.unwrap(), ""),
            (connect_as(&kubeconfig, "system:serviceaccount:a:b").await.unwrap(), "system:serviceaccount:a:b"),
        ] {
            let request = Request::get("/version").body(Vec::new()).unwrap();
            assert_eq!(client.request_text(request).await.unwrap(), expected);
        }
    }
}
