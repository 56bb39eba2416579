//! What says that a temporary bootstrap node has done its work.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Where its ConfigMap is.
pub const BOOTSTRAP_NAMESPACE: &str = "kube-system";
/// What it is called.
pub const BOOTSTRAP_NAME: &str = "bootstrap";

/// The ConfigMap that installers of this kind wait for. It is written when the masters have taken over.
pub fn bootstrap_complete(mut reached: BTreeMap<String, String>) -> Value {
    reached.insert("status".to_owned(), "complete".to_owned());
    bootstrap_progress(&reached)
}

/// The milestones that are reached, in the same ConfigMap.
pub fn bootstrap_progress(reached: &BTreeMap<String, String>) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": BOOTSTRAP_NAME, "namespace": BOOTSTRAP_NAMESPACE },
        "data": reached,
    })
}
