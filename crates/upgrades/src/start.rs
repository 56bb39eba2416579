//! What a person does to a node, in the order that the seed has it: the Secret, then the label. The cordon is the controller's, which
//! notes whose it is.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kubeapi::{
    ApiError, Client, FIELD_MANAGER,
    k8s_openapi::api::core::v1::Node,
    kube::{
        Api,
        api::{ListParams, Patch, PatchParams},
    },
};
use serde_json::{Value, json};

use crate::{NodeUpgrade, names};

/// The Secret as it is applied.
fn secret(node: &str, data: &BTreeMap<String, String>) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {
            "name": names::secret(node), "namespace": names::NAMESPACE, "labels": { names::SECRET_LABEL: "true" },
        },
        "stringData": data,
    })
}

/// Gives the node its Secret and labels it.
pub async fn start(client: &Client, node: &str, data: &BTreeMap<String, String>) -> Result<(), ApiError> {
    let nodes: Api<Node> = Api::all(client.clone());
    nodes.get(node).await.map_err(ApiError::of(format!("see node {node}")))?;
    if !data.is_empty() {
        let secrets: Api<kubeapi::k8s_openapi::api::core::v1::Secret> =
            Api::namespaced(client.clone(), names::NAMESPACE);
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let applied = secrets.patch(&names::secret(node), &params, &Patch::Apply(secret(node, data))).await;
        applied.map_err(ApiError::of(format!("write Secret {}", names::secret(node))))?;
    }
    let label = json!({ "metadata": { "labels": { names::SCHEDULE_LABEL: names::SCHEDULED } } });
    let labelled = nodes.patch(node, &PatchParams::default(), &Patch::Merge(label)).await;
    labelled.map_err(ApiError::of(format!("label node {node}")))?;
    Ok(())
}

/// Stops what has not begun to change the node; what has is not stopped. Each value counts once, so it is the time.
pub async fn abort(client: &Client, node: &str) -> Result<NodeUpgrade, ApiError> {
    let api: Api<NodeUpgrade> = Api::all(client.clone());
    let now = Timestamp::now().to_string();
    let patch = json!({ "metadata": { "annotations": { names::ABORT_ANNOTATION: now } } });
    let patched = api.patch(node, &PatchParams::default(), &Patch::Merge(patch)).await;
    patched.map_err(ApiError::of(format!("abort NodeUpgrade {node}")))
}

/// All there are, or one.
pub async fn list(client: &Client, node: Option<&str>) -> Result<Vec<NodeUpgrade>, ApiError> {
    let api: Api<NodeUpgrade> = Api::all(client.clone());
    match node {
        Some(node) => Ok(vec![api.get(node).await.map_err(ApiError::of(format!("see NodeUpgrade {node}")))?]),
        None => Ok(api.list(&ListParams::default()).await.map_err(ApiError::of("list NodeUpgrades"))?.items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_ours_by_its_label() {
        let data = [("region".to_owned(), "eu-de".to_owned())].into();
        insta::assert_snapshot!(secret("worker-01", &data).to_string(), @r#"{"apiVersion":"v1","kind":"Secret","metadata":{"labels":{"blackstart.io/ipb":"true"},"name":"ipb-worker-01","namespace":"ipb-system"},"stringData":{"region":"eu-de"},"type":"Opaque"}"#);
    }
}
