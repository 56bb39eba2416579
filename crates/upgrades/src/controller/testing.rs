//! An API server that knows as much as the controller writes with versions: one Node, the Leases of slots, one object.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{Method, StatusCode},
    routing::any,
};
use kubeapi::{Client, kube::Config};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Controller, Options};

type Answer = (StatusCode, Json<Value>);

#[derive(Clone, Default)]
pub(super) struct Server(Arc<Mutex<Held>>);

#[derive(Default)]
pub(super) struct Held {
    /// Null once it is gone.
    pub(super) node: Value,
    pub(super) object: Value,
    pub(super) leases: BTreeMap<String, Value>,
    /// What another client writes to the Node before the next patch of it arrives.
    pub(super) interferes: Option<Value>,
    /// Whether it refuses whatever is asked.
    pub(super) is_away: bool,
    version: u64,
}

impl Held {
    fn next_version(&mut self) -> Value {
        self.version += 1;
        self.version.to_string().into()
    }

    fn write_node(&mut self, patch: &Value) -> Answer {
        let version = &patch["metadata"]["resourceVersion"];
        if self.node.is_null() {
            return refused(StatusCode::NOT_FOUND);
        }
        if !version.is_null() && *version != self.node["metadata"]["resourceVersion"] {
            return refused(StatusCode::CONFLICT);
        }
        let before = self.node.clone();
        merge(&mut self.node, patch);
        // As with a real one, a write that changes nothing leaves the version.
        if self.node != before {
            self.node["metadata"]["resourceVersion"] = self.next_version();
        }
        (StatusCode::OK, Json(self.node.clone()))
    }

    fn patch_node(&mut self, patch: &Value) -> Answer {
        if let Some(other) = self.interferes.take() {
            drop(self.write_node(&other));
        }
        self.write_node(patch)
    }

    fn write_lease(&mut self, name: &str, mut lease: Value) -> Answer {
        let known = self.leases.get(name).map(|known| known["metadata"]["resourceVersion"].clone());
        if known.is_some_and(|known| known != lease["metadata"]["resourceVersion"]) {
            return refused(StatusCode::CONFLICT);
        }
        lease["metadata"]["resourceVersion"] = self.next_version();
        lease["metadata"]["uid"] = "uid".into();
        self.leases.insert(name.to_owned(), lease.clone());
        (StatusCode::OK, Json(lease))
    }

    fn delete_lease(&mut self, name: &str, wish: &Value) -> Answer {
        let Some(known) = self.leases.get(name) else { return refused(StatusCode::NOT_FOUND) };
        if known["metadata"]["resourceVersion"] != wish["preconditions"]["resourceVersion"] {
            return refused(StatusCode::CONFLICT);
        }
        self.leases.remove(name);
        (StatusCode::OK, Json(json!({ "kind": "Status", "apiVersion": "v1", "status": "Success" })))
    }

    fn answer(&mut self, method: &Method, path: &str, body: &Value) -> Answer {
        if self.is_away {
            return refused(StatusCode::SERVICE_UNAVAILABLE);
        }
        let there = |value: &Value| {
            if value.is_null() { refused(StatusCode::NOT_FOUND) } else { (StatusCode::OK, Json(value.clone())) }
        };
        match (method.as_str(), path.rsplit_once('/').map_or(("", path), |it| it)) {
            ("GET", (_, "nodes")) => list("NodeList", std::slice::from_ref(&self.node)),
            ("GET", ("api/v1/nodes", "w1")) => there(&self.node),
            ("PATCH", ("api/v1/nodes", "w1")) => self.patch_node(body),
            ("GET", ("apis/blackstart.io/v1alpha1/nodeupgrades", "w1")) => there(&self.object),
            ("GET", (_, "leases")) => list("LeaseList", &self.leases.values().cloned().collect::<Vec<_>>()),
            ("POST", (_, "leases")) => {
                self.write_lease(body["metadata"]["name"].as_str().unwrap_or_default(), body.clone())
            }
            ("PUT", (before, name)) if before.ends_with("leases") => self.write_lease(name, body.clone()),
            ("DELETE", (before, name)) if before.ends_with("leases") => self.delete_lease(name, body),
            _ => refused(StatusCode::NOT_FOUND),
        }
    }
}

fn list(kind: &str, items: &[Value]) -> Answer {
    (StatusCode::OK, Json(json!({ "kind": kind, "apiVersion": "v1", "metadata": {}, "items": items })))
}

fn refused(code: StatusCode) -> Answer {
    // `NotFound`, without a space: the client library reads this word.
    let reason = code.canonical_reason().unwrap_or_default().replace(' ', "");
    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": reason,
                         "reason": reason, "code": code.as_u16() });
    (code, Json(status))
}

impl Server {
    pub(super) fn with<T>(&self, check: impl FnOnce(&mut Held) -> T) -> T {
        check(&mut self.0.lock().unwrap())
    }

    /// Begins to answer.
    pub(super) async fn serve(&self) -> Client {
        self.with(|held| {
            held.node = json!({ "kind": "Node", "apiVersion": "v1",
                                "metadata": { "name": "w1", "uid": "uid-of-w1", "resourceVersion": "0" } });
        });
        let answer = |State(server): State<Self>, method: Method, Path(path): Path<String>, body: String| async move {
            let body = serde_json::from_str(&body).unwrap_or_default();
            server.with(|held| held.answer(&method, &path, &body))
        };
        let router = Router::new().route("/{*path}", any(answer)).with_state(self.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let mut config = Config::new(url.parse().unwrap());
        config.default_retry = false;
        Client::try_from(config).unwrap()
    }
}

/// One that leads, over this API.
pub(super) fn controller(client: &Client) -> Controller {
    let options =
        Options { identity: "c0".to_owned(), max_unavailable: operations::slots::Limit::Nodes(1), commits: false };
    Controller::new(client.clone(), options)
}

/// As RFC 7386 has it.
fn merge(into: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *into = patch.clone();
        return;
    };
    for (name, value) in fields {
        match value {
            Value::Null => drop(into.as_object_mut().and_then(|into| into.remove(name))),
            value => merge(&mut into[name], value),
        }
    }
}
