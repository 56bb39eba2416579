//! What must hold after a node's return before it counts, and before the next one is taken. What did not hold before the node was
//! touched is subtracted elsewhere (`next/after.rs`).

use std::collections::BTreeSet;

use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::{Node, Pod},
    kube::{Api, ResourceExt, api::ListParams},
};
use operations::{cordon::is_cordoned, readiness::Readiness};

use crate::names::DAEMON_SET;

const NODES_AT_ONCE: u32 = 100;

/// Pods that belong on the node and are not Ready, each by a name that it also has when it is made again.
pub(super) async fn not_ready_pods(client: &Client, node: &str) -> Result<BTreeSet<String>, ApiError> {
    let on_it = ListParams::default().fields(&format!("spec.nodeName={node}"));
    let pods = Api::<Pod>::all(client.clone()).list(&on_it).await;
    let pods = pods.map_err(ApiError::of(format!("list the pods of {node}")))?.items;
    Ok(pods.iter().filter(|pod| !is_ready(pod)).filter_map(lasting_name).collect())
}

/// Of a pod that belongs on its node: of a `DaemonSet`, but not our own, which goes with the label; or of the kubelet itself, as a
/// master's static pods are, whose own name is always the same.
fn lasting_name(pod: &Pod) -> Option<String> {
    let namespace = pod.namespace().unwrap_or_default();
    let owner = pod.owner_references().iter().find(|owner| owner.controller == Some(true))?;
    match owner.kind.as_str() {
        _ if pod.metadata.deletion_timestamp.is_some() => None,
        "DaemonSet" if owner.name != DAEMON_SET => Some(format!("DaemonSet {namespace}/{}", owner.name)),
        "Node" => Some(format!("static pod {namespace}/{}", pod.name_any())),
        _ => None,
    }
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Why no further node may be taken away: nodes without a run that are not Ready.
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
    use kubeapi::k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use serde_json::json;

    use super::*;

    fn pod(kind: &str, owner: &str, name: &str) -> Pod {
        let owner = json!({ "apiVersion": "v1", "kind": kind, "name": owner, "uid": "u", "controller": true });
        let metadata = json!({ "name": name, "namespace": "kube-system", "ownerReferences": [owner] });
        serde_json::from_value(json!({ "metadata": metadata })).unwrap()
    }

    #[test]
    fn pods_that_belong_on_a_node_have_a_name_that_lasts() {
        for (kind, owner, name, expected) in [
            ("DaemonSet", "csi-node", "csi-node-x7k2p", Some("DaemonSet kube-system/csi-node")),
            ("DaemonSet", "csi-node", "csi-node-9zq4d", Some("DaemonSet kube-system/csi-node")),
            ("DaemonSet", DAEMON_SET, "ipb-daemonset-abcde", None),
            ("Node", "master-01", "kube-apiserver-master-01", Some("static pod kube-system/kube-apiserver-master-01")),
            ("ReplicaSet", "web", "web-1", None),
        ] {
            assert_eq!(lasting_name(&pod(kind, owner, name)).as_deref(), expected, "{kind} {owner}");
        }
        let mut ends = pod("DaemonSet", "csi-node", "p");
        ends.metadata.deletion_timestamp = Some(Time(jiff::Timestamp::UNIX_EPOCH));
        assert_eq!(lasting_name(&ends), None, "another comes in its place");
        assert_eq!(lasting_name(&Pod::default()), None, "without an owner");
    }

    #[test]
    fn a_pod_that_reports_nothing_yet_is_not_ready() {
        let mut pod = pod("DaemonSet", "csi-node", "p");
        assert!(!is_ready(&pod));
        for (value, expected) in [("False", false), ("True", true)] {
            let conditions = json!({ "conditions": [{ "type": "Ready", "status": value }] });
            pod.status = Some(serde_json::from_value(conditions).unwrap());
            assert_eq!(is_ready(&pod), expected);
        }
    }
}
