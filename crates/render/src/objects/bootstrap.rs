//! What tells that a temporary bootstrap node has done its work.

use serde_json::{Value, json};

/// The ConfigMap that installers of this kind wait for. It is written when the masters have taken over.
pub fn bootstrap_complete() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "bootstrap", "namespace": "kube-system" },
        "data": { "status": "complete" },
    })
}
