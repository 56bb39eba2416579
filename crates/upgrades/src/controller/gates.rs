//! What must hold after a node's return before it counts, and before the next one is taken.

use explain::Diagnostic;
use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::{Node, Pod},
    kube::{Api, ResourceExt, api::ListParams},
};
use operations::{cordon::is_cordoned, readiness::Readiness};

use crate::{codes, names::DAEMON_SET};

const NODES_AT_ONCE: u32 = 100;

/// What does not hold around the node.
pub(super) async fn unmet(client: &Client, node: &str) -> Result<Vec<Diagnostic<String>>, ApiError> {
    let on_it = ListParams::default().fields(&format!("spec.nodeName={node}"));
    let pods = Api::<Pod>::all(client.clone()).list(&on_it).await;
    let pods = pods.map_err(ApiError::of(format!("list the pods of {node}")))?.items;
    let waiting: Vec<String> =
        pods.iter().filter(|pod| belongs_to_the_node(pod) && !is_ready(pod)).map(full_name).collect();
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let message = format!("pods that belong on {node} are not Ready: {}", waiting.join(", "));
    Ok(vec![Diagnostic::new(codes::GATES_UNMET, message).recorded()])
}

/// Of a `DaemonSet`, but not our own, which goes with the label.
fn belongs_to_the_node(pod: &Pod) -> bool {
    let owner = pod.owner_references().iter().find(|owner| owner.controller == Some(true));
    owner.is_some_and(|owner| owner.kind == "DaemonSet" && owner.name != DAEMON_SET)
        && pod.metadata.deletion_timestamp.is_none()
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn full_name(pod: &Pod) -> String {
    format!("{}/{}", pod.namespace().unwrap_or_default(), pod.name_any())
}

/// Why no further node may be taken away: nodes that nobody works on and that are not Ready.
pub(super) async fn others(client: &Client, worked_on: impl Fn(&str) -> bool) -> Result<Option<String>, ApiError> {
    let api: Api<Node> = Api::all(client.clone());
    let mut page = ListParams::default().limit(NODES_AT_ONCE);
    let mut not_ready = Vec::new();
    loop {
        let found = api.list(&page).await.map_err(ApiError::of("list the Nodes"))?;
        let next = found.metadata.continue_;
        let missed = |node: &Node| !Readiness::of_node(node).is_ready() && !is_cordoned(node);
        not_ready.extend(found.items.iter().filter(|node| missed(node)).map(ResourceExt::name_any));
        match next.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => break,
        }
    }
    not_ready.retain(|node| !worked_on(node));
    Ok((!not_ready.is_empty()).then(|| format!("not Ready: {}", not_ready.join(", "))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pods_of_daemon_sets_count_and_ours_does_not() {
        let pod = |kind: &str, owner: &str| -> Pod {
            let owner = json!({ "apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": "u", "controller": true });
            serde_json::from_value(json!({ "metadata": { "name": "p", "ownerReferences": [owner] } })).unwrap()
        };
        for (kind, owner, expected) in
            [("DaemonSet", "csi-node", true), ("DaemonSet", DAEMON_SET, false), ("ReplicaSet", "web", false)]
        {
            assert_eq!(belongs_to_the_node(&pod(kind, owner)), expected, "{kind} {owner}");
        }
        assert!(!is_ready(&pod("DaemonSet", "csi-node")), "nothing reported yet");
    }
}
