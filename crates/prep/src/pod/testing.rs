//! An API server that knows as much as pods ask of one: Leases with versions, one Node, Events.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{delete, get, post},
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
    pub(super) leases: BTreeMap<String, Value>,
    pub(super) nodes: usize,
    pub(super) node: Value,
    pub(super) patches: usize,
    pub(super) events: Vec<Value>,
    /// Whether it refuses whatever is asked.
    pub(super) is_away: bool,
    version: u64,
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

    fn write_lease(&self, name: &str, mut lease: Value, is_new: bool) -> Answer {
        self.asked(|held| {
            let known = held.leases.get(name).map(|known| known["metadata"]["resourceVersion"].clone());
            match known {
                Some(_) if is_new => return refused(StatusCode::CONFLICT),
                None if !is_new => return refused(StatusCode::NOT_FOUND),
                Some(version) if version != lease["metadata"]["resourceVersion"] => {
                    return refused(StatusCode::CONFLICT);
                }
                _ => {}
            }
            held.version += 1;
            lease["metadata"]["resourceVersion"] = held.version.to_string().into();
            lease["metadata"]["uid"] = "uid".into();
            held.leases.insert(name.to_owned(), lease.clone());
            (StatusCode::OK, Json(lease))
        })
    }

    fn delete_lease(&self, name: &str, wish: &Value) -> Answer {
        self.asked(|held| {
            let Some(known) = held.leases.get(name) else { return refused(StatusCode::NOT_FOUND) };
            if known["metadata"]["resourceVersion"] != wish["preconditions"]["resourceVersion"] {
                return refused(StatusCode::CONFLICT);
            }
            held.leases.remove(name);
            (StatusCode::OK, Json(json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" })))
        })
    }

    fn list(kind: &str, items: &[Value], more: usize) -> Answer {
        let metadata = json!({ "remainingItemCount": more });
        (StatusCode::OK, Json(json!({ "kind": kind, "apiVersion": "v1", "metadata": metadata, "items": items })))
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
        const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
        self.with(|held| {
            held.node = json!({ "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1",
                                             "metadata": { "name": "w1", "uid": "uid-of-w1" } });
        });
        let leases = |State(server): State<Self>| async move {
            server.asked(|held| Self::list("LeaseList", &held.leases.values().cloned().collect::<Vec<_>>(), 0))
        };
        let create = |State(server): State<Self>, Json(lease): Json<Value>| async move {
            server.write_lease(lease["metadata"]["name"].as_str().unwrap_or_default(), lease.clone(), true)
        };
        let replace = |State(server): State<Self>, Path(name): Path<String>, Json(lease): Json<Value>| async move {
            server.write_lease(&name, lease, false)
        };
        let remove = |State(server): State<Self>, Path(name): Path<String>, body: String| async move {
            server.delete_lease(&name, &serde_json::from_str(&body).unwrap_or_default())
        };
        let nodes = |State(server): State<Self>| async move {
            server.asked(|held| Self::list("List", std::slice::from_ref(&held.node), held.nodes.saturating_sub(1)))
        };
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
            .route(LEASES, get(leases).post(create))
            .route(&format!("{LEASES}/{{name}}"), delete(remove).put(replace))
            .route("/api/v1/nodes", get(nodes))
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
