//! An API server that knows as much as operations ask of one: Leases and one Node, with versions, and its pods.

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
pub(crate) struct Server(Arc<Mutex<Held>>);

#[derive(Default)]
pub(crate) struct Held {
    pub(crate) leases: BTreeMap<String, Value>,
    pub(crate) nodes: usize,
    pub(crate) node: Value,
    pub(crate) pods: BTreeMap<String, Value>,
    /// A budget that allows no eviction.
    pub(crate) budget: Option<&'static str>,
    /// How pods went: `evict p`, `delete p`.
    pub(crate) went: Vec<String>,
    /// Whether it refuses whatever is asked.
    pub(crate) is_away: bool,
    version: u64,
}

fn refused(code: StatusCode) -> Answer {
    let reason = code.canonical_reason().unwrap_or_default();
    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": reason,
                         "reason": reason, "code": code.as_u16() });
    (code, Json(status))
}

impl Server {
    pub(crate) fn with<T>(&self, check: impl FnOnce(&mut Held) -> T) -> T {
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

    fn end_pod(&self, how: &str, name: &str, options: &Value) -> Answer {
        self.asked(|held| {
            if let Some(budget) = held.budget.filter(|_| how == "evict") {
                let (code, Json(mut status)) = refused(StatusCode::TOO_MANY_REQUESTS);
                status["details"] = json!({ "causes": [{ "reason": "DisruptionBudget", "message": budget }] });
                return (code, Json(status));
            }
            let Some(pod) = held.pods.get(name) else { return refused(StatusCode::NOT_FOUND) };
            let wanted = &options["preconditions"]["uid"];
            if !wanted.is_null() && *wanted != pod["metadata"]["uid"] {
                return refused(StatusCode::CONFLICT);
            }
            held.pods.remove(name);
            held.went.push(format!("{how} {name}"));
            (StatusCode::OK, Json(json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" })))
        })
    }

    /// Begins to answer.
    pub(crate) async fn serve(&self) -> Client {
        const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
        self.with(|held| {
            held.node = json!({ "kind": "Node", "apiVersion": "v1",
                                "metadata": { "name": "w1", "uid": "uid-of-w1", "resourceVersion": "0" } });
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
        let pods = |State(server): State<Self>| async move {
            server.asked(|held| Self::list("PodList", &held.pods.values().cloned().collect::<Vec<_>>(), 0))
        };
        let evict = |State(server): State<Self>, Path(name): Path<String>, Json(eviction): Json<Value>| async move {
            server.end_pod("evict", &name, &eviction["deleteOptions"])
        };
        let delete_pod = |State(server): State<Self>, Path(name): Path<String>, body: String| async move {
            server.end_pod("delete", &name, &serde_json::from_str(&body).unwrap_or_default())
        };
        let router = Router::new()
            .route("/api/v1/pods", get(pods))
            .route("/api/v1/namespaces/default/pods/{name}", delete(delete_pod))
            .route("/api/v1/namespaces/default/pods/{name}/eviction", post(evict))
            .route(LEASES, get(leases).post(create))
            .route(&format!("{LEASES}/{{name}}"), delete(remove).put(replace))
            .route("/api/v1/nodes", get(nodes))
            .route("/api/v1/nodes/w1", get(node))
            .with_state(self.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let mut config = Config::new(url.parse().unwrap());
        config.default_retry = false;
        Client::try_from(config).unwrap()
    }
}
