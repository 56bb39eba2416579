//! Nothing new is placed on a node, as with `kubectl cordon`.

use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::Node,
    kube::{
        Api,
        api::{Patch, PatchParams},
    },
};
use serde_json::json;

/// Whether pods are kept away from the node.
pub fn is_cordoned(node: &Node) -> bool {
    node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true)
}

/// Cordons the node; one that is gone needs no cordon.
pub async fn cordon(client: &Client, name: &str) -> Result<(), ApiError> {
    let patch = Patch::Merge(json!({ "spec": { "unschedulable": true } }));
    let patched = Api::<Node>::all(client.clone()).patch(name, &PatchParams::default(), &patch).await;
    kubeapi::unless_gone(patched, format!("cordon {name}")).map(drop)
}
