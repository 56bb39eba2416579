//! Several write the same Secret, and the first one wins.

#![expect(clippy::unwrap_used, reason = "a failing unwrap in a test is the failure we want to see")]

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use k8s_openapi::api::core::v1::Secret;
use kubeapi::{ApiError, ReconcileError, SecretData, reconcile_secret};
use serde_json::json;
use tokio::net::TcpListener;

const SECRET: (&str, &str) = ("kube-system", "shared");

/// An API server that knows one Secret, and counts its versions.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<Option<Secret>>>);

type Answer = (StatusCode, Json<serde_json::Value>);

fn refused(code: StatusCode, reason: &str) -> Answer {
    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
                         "message": reason, "code": code.as_u16() });
    (code, Json(status))
}

impl Server {
    fn read(&self) -> Answer {
        match &*self.0.lock().unwrap() {
            Some(secret) => (StatusCode::OK, Json(json!(secret))),
            None => refused(StatusCode::NOT_FOUND, "NotFound"),
        }
    }

    fn create(&self, secret: Secret) -> Answer {
        if self.0.lock().unwrap().is_some() {
            return refused(StatusCode::CONFLICT, "AlreadyExists");
        }
        self.store(secret, 1)
    }

    fn replace(&self, secret: Secret) -> Answer {
        let version = self.version();
        if secret.metadata.resource_version != Some(version.to_string()) {
            return refused(StatusCode::CONFLICT, "Conflict");
        }
        self.store(secret, version + 1)
    }

    fn version(&self) -> u32 {
        let held = self.0.lock().unwrap();
        held.as_ref().and_then(|held| held.metadata.resource_version.as_ref()?.parse().ok()).unwrap_or(0)
    }

    fn store(&self, mut secret: Secret, version: u32) -> Answer {
        secret.metadata.resource_version = Some(version.to_string());
        *self.0.lock().unwrap() = Some(secret.clone());
        (StatusCode::OK, Json(json!(secret)))
    }

    /// Another client writes, whatever is there.
    fn overwrite(&self, data: &[(&str, &str)]) {
        let bytes = |(name, text): (String, String)| (name, k8s_openapi::ByteString(text.into_bytes()));
        let data = owned(data).into_iter().map(bytes).collect();
        let metadata = kube::api::ObjectMeta { name: Some(SECRET.1.to_owned()), ..kube::api::ObjectMeta::default() };
        let secret = Secret { metadata, data: Some(data), ..Secret::default() };
        drop(self.store(secret, self.version() + 1));
    }

    async fn serve(&self) -> kube::Client {
        let router = Router::new()
            .route(
                "/api/v1/namespaces/kube-system/secrets",
                post(|State(server): State<Self>, Json(secret)| async move { server.create(secret) }),
            )
            .route(
                "/api/v1/namespaces/kube-system/secrets/shared",
                get(|State(server): State<Self>| async move { server.read() })
                    .put(|State(server): State<Self>, Json(secret)| async move { server.replace(secret) }),
            )
            .with_state(self.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        kube::Client::try_from(kube::Config::new(url.parse().unwrap())).unwrap()
    }
}

fn owned(data: &[(&str, &str)]) -> SecretData {
    data.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// Writes `mine` where nothing was written yet, and adds a mark to whatever is there without one.
fn wish(held: Option<&SecretData>) -> Option<SecretData> {
    match held {
        None => Some(owned(&[("id", "mine"), ("mark", "x")])),
        Some(held) if held.contains_key("mark") => None,
        Some(held) => Some(held.clone().into_iter().chain(owned(&[("mark", "x")])).collect()),
    }
}

#[tokio::test]
async fn the_first_writer_wins_and_everybody_reads_the_same() {
    let server = Server::default();
    let client = server.serve().await;
    let reconcile = || reconcile_secret(&client, SECRET, |held| Ok::<_, Infallible>(wish(held)));
    let (one, other) = tokio::join!(reconcile(), reconcile());
    assert_eq!(one.unwrap(), owned(&[("id", "mine"), ("mark", "x")]));
    assert_eq!(other.unwrap(), owned(&[("id", "mine"), ("mark", "x")]));
    assert_eq!(server.version(), 1, "it was written once");
}

#[tokio::test]
async fn what_was_written_in_between_is_read_and_never_lost() {
    for before in [None, Some([("id", "old")])] {
        let server = Server::default();
        if let Some(data) = &before {
            server.overwrite(data);
        }
        let client = server.serve().await;
        let rounds = Mutex::new(0);
        let reconciled = reconcile_secret(&client, SECRET, |held| {
            let mut rounds = rounds.lock().unwrap();
            *rounds += 1;
            if *rounds == 1 {
                server.overwrite(&[("id", "theirs")]);
            }
            Ok::<_, Infallible>(wish(held))
        });
        assert_eq!(reconciled.await.unwrap(), owned(&[("id", "theirs"), ("mark", "x")]), "{before:?}");
    }
}

#[tokio::test]
async fn writing_ends_and_what_cannot_be_is_an_error() {
    let server = Server::default();
    let client = server.serve().await;
    let reconciled = reconcile_secret(&client, SECRET, |_| {
        server.overwrite(&[("id", "theirs")]);
        Ok::<_, Infallible>(Some(owned(&[("id", "mine")])))
    });
    assert!(matches!(reconciled.await, Err(ReconcileError::Api(ApiError::Refused { status: 409, .. }))));
    let refused = reconcile_secret(&client, SECRET, |_| Err(std::fmt::Error)).await;
    assert!(matches!(refused, Err(ReconcileError::Content(_))));
}
