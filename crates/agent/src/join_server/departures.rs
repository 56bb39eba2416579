//! Nodes that leave: their Node objects are removed for them, unless others have set something on them.

use std::sync::Arc;

use join::server::{Answer, Departure, Departures, NotReady};
use k8s_openapi::api::core::v1::{Node as ApiNode, Taint};
use kube::{
    Api, Client,
    api::{DeleteParams, Preconditions},
};
use operations::node_snapshot::NodeSnapshot;
use spec::{Node, Role, ValidatedCluster};
use tokio::sync::watch;

/// What the kubelet of a master that takes no pods registers with.
const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";
/// Labels below this are for others to set, and a kubelet may not.
const RESTRICTED: &str = "node-restriction.kubernetes.io/";
/// While the Node changes under our hands it is looked at again.
const TRIES: u8 = 5;

/// Removes Node objects, as soon as there is a way to the API.
pub(super) struct Leavers {
    pub(super) client: watch::Receiver<Option<Client>>,
    pub(super) cluster: Arc<ValidatedCluster>,
}

impl Departures for Leavers {
    fn remove<'a>(&'a self, node: &'a str) -> Answer<'a, Departure> {
        Box::pin(async move {
            let client = self.client.borrow().clone().ok_or(NotReady)?;
            let nodes = Api::<ApiNode>::all(client);
            self.removed(&nodes, node).await.map_err(|error| {
                tracing::warn!(node, %error, "the Node object could not be removed");
                NotReady
            })
        })
    }
}

impl Leavers {
    async fn removed(&self, nodes: &Api<ApiNode>, name: &str) -> Result<Departure, kube::Error> {
        let mut tries = TRIES;
        loop {
            let Some(node) = nodes.get_opt(name).await? else { return Ok(Departure::Gone) };
            let by = set_by_others(&NodeSnapshot::of(&node), self.cluster.node(name));
            if !by.is_empty() {
                return Ok(Departure::Held(by));
            }
            // What was looked at is what is removed: whatever is set in between is seen.
            let as_seen = Preconditions {
                resource_version: node.metadata.resource_version.clone(),
                uid: node.metadata.uid.clone(),
            };
            match nodes.delete(name, &DeleteParams::default().preconditions(as_seen)).await {
                Ok(_) => return Ok(Departure::Gone),
                Err(kube::Error::Api(status)) if status.code == 404 => return Ok(Departure::Gone),
                Err(kube::Error::Api(status)) if status.code == 409 && tries > 1 => tries -= 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// What others have set on a Node that its kubelet would not set again, in words.
fn set_by_others(node: &NodeSnapshot, listed: Option<&Node>) -> Vec<String> {
    let cordon = node.unschedulable.then(|| "it is cordoned".to_owned());
    let registers = listed.is_some_and(|listed| listed.has(Role::Master) && !listed.has(Role::Worker));
    let is_own = |taint: &Taint| registers && taint.key == CONTROL_PLANE && taint.effect == "NoSchedule";
    let taints = node.taints.iter().filter(|taint| !is_own(taint)).map(words);
    let labels = node.labels.iter().filter(|(key, _)| is_restricted(key));
    let labels = labels.map(|(key, value)| format!("the label {key}={value}"));
    cordon.into_iter().chain(taints).chain(labels).collect()
}

/// `node-restriction.kubernetes.io/…`, and `….node-restriction.kubernetes.io/…`.
fn is_restricted(label: &str) -> bool {
    let Some((prefix, _)) = label.split_once('/') else { return false };
    let domain = RESTRICTED.trim_end_matches('/');
    prefix == domain || prefix.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

fn words(Taint { key, value, effect, .. }: &Taint) -> String {
    match value.as_deref().unwrap_or_default() {
        "" => format!("the taint {key}:{effect}"),
        value => format!("the taint {key}={value}:{effect}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::cluster;

    fn held(name: &str, labels: &Value, spec: &Value) -> String {
        let node = json!({ "metadata": { "name": name, "labels": labels }, "spec": spec });
        set_by_others(&NodeSnapshot::of(&serde_json::from_value(node).unwrap()), cluster().node(name)).join(", ")
    }

    #[test]
    fn what_others_have_set_holds_a_node() {
        let none = json!({});
        let taint = |key: &str, effect: &str| json!({ "taints": [{ "key": key, "effect": effect }] });
        for (name, labels, spec, expected) in [
            ("worker-01", json!({ "kubernetes.io/os": "linux", "disk": "fast" }), none.clone(), ""),
            ("worker-01", none.clone(), json!({ "unschedulable": true }), "it is cordoned"),
            (
                "worker-01",
                none.clone(),
                json!({ "unschedulable": true, "taints": [
                    { "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-11-17T10:00:00Z" },
                    { "key": "node.kubernetes.io/not-ready", "effect": "NoExecute" },
                    { "key": "dedicated", "value": "db", "effect": "NoSchedule" },
                ] }),
                "it is cordoned, the taint dedicated=db:NoSchedule",
            ),
            ("worker-01", none.clone(), taint("node.kubernetes.io/unreachable", "NoExecute"), ""),
            (
                "worker-01",
                none.clone(),
                taint("node.kubernetes.io/out-of-service", "NoExecute"),
                "the taint node.kubernetes.io/out-of-service:NoExecute",
            ),
            ("master-01", none.clone(), taint(CONTROL_PLANE, "NoSchedule"), ""),
            (
                "master-01",
                none.clone(),
                taint(CONTROL_PLANE, "NoExecute"),
                "the taint node-role.kubernetes.io/control-plane:NoExecute",
            ),
            (
                "worker-01",
                none.clone(),
                taint(CONTROL_PLANE, "NoSchedule"),
                "the taint node-role.kubernetes.io/control-plane:NoSchedule",
            ),
            (
                "worker-01",
                json!({ "node-restriction.kubernetes.io/zone": "dmz", "a.node-restriction.kubernetes.io/b": "c" }),
                none.clone(),
                "the label a.node-restriction.kubernetes.io/b=c, the label node-restriction.kubernetes.io/zone=dmz",
            ),
            ("worker-01", json!({ "notnode-restriction.kubernetes.io/zone": "x" }), none, ""),
        ] {
            assert_eq!(held(name, &labels, &spec), expected, "{name} {labels} {spec}");
        }
    }
}
