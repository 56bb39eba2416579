//! An API server that knows as much as pods write to one: a Node and Events.

use std::sync::{Arc, Mutex};

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    routing::{get, post},
};
use kubeapi::{Client, kube::Config};
use serde_json::{Value, json};
use tokio::net::TcpListener;

type Answer = (StatusCode, Json<Value>);

/// What the server holds.
#[derive(Clone, Default)]
pub(super) struct Server(Arc<Mutex<Held>>);

#[derive(Default)]
pub(super) struct Held {
    pub(super) node: Value,
    pub(super) patches: usize,
    pub(super) events: Vec<Value>,
    /// Whether it refuses whatever is asked.
    pub(super) is_away: bool,
}

fn refused(code: StatusCode) -> Answer {
    let reason = code.canonical_reason().unwrap_or_default();
    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": reason,
                         "reason": reason, "code": code.as_u16() });
    (code, Json(status))
}

impl Server {
    pub(super) fn with<T>(&self, check: impl FnOnce(&mut Held) -> T) -> T {
        check(&mut self.0.lock().unwrap())
    }

    fn asked(&self, answer: impl FnOnce(&mut Held) -> Answer) -> Answer {
        self.with(|held| if held.is_away { refused(StatusCode::SERVICE_UNAVAILABLE) } else { answer(held) })
    }

    fn patch_node(&self, patch: &Value) -> Answer {
        self.asked(|held| {
            held.patches += 1;
            for part in ["labels", "annotations"] {
                for (name, value) in patch["metadata"][part].as_object().into_iter().flatten() {
                    held.node["metadata"][part][name] = value.clone();
                }
            }
            (StatusCode::OK, Json(held.node.clone()))
        })
    }

    /// Begins to answer.
    pub(super) async fn serve(&self) -> Client {
        self.with(|held| {
            held.node = json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                                             "metadata": { "name": "w1", "uid": "uid-of-w1" } });
        });
        let node =
            |State(server): State<Self>| async move { server.asked(|held| (StatusCode::OK, Json(held.node.clone()))) };
        let patch = |State(server): State<Self>, body: String| async move {
            server.patch_node(&serde_json::from_str(&body).unwrap_or_default())
        };
        let event = |State(server): State<Self>, Json(event): Json<Value>| async move {
            server.asked(|held| {
                held.events.push(event.clone());
                (StatusCode::OK, Json(event))
            })
        };
        let router = Router::new()
            .route("/api/v1/nodes/w1", get(node).patch(patch))
            .route("/api/v1/namespaces/default/events", post(event))
            .with_state(self.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let mut config = Config::new(url.parse().unwrap());
        config.default_retry = false;
        Client::try_from(config).unwrap()
    }
}
