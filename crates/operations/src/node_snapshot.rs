//! What others have set on a Node: its labels, its taints and whether it is cordoned. Taken before a machine is worked on, and
//! restored afterwards by the process that has taken it, also on a new Node of the same name.
//!
//! Only what is missing comes back: what was added or changed meanwhile was wanted by others and stays. The cordon is the
//! exception, because a Node cannot say whose it is: it is as it was before. Taints by which Kubernetes says how a node is
//! are neither taken nor touched.

use std::collections::BTreeMap;

use kubeapi::k8s_openapi::api::core::v1::{Node, Taint};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cordon::is_cordoned;

/// Taints that Kubernetes itself sets and takes away, by how the node is. `unschedulable` goes with the cordon, which is looked
/// at by itself; `out-of-service` is set by people.
const LIFECYCLE: [&str; 7] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/network-unavailable",
];

/// What others have set on a Node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeSnapshot {
    /// All labels.
    pub labels: BTreeMap<String, String>,
    /// All taints but those of Kubernetes itself.
    pub taints: Vec<Taint>,
    /// Whether it is cordoned.
    pub unschedulable: bool,
}

impl NodeSnapshot {
    /// As it is now.
    pub fn of(node: &Node) -> Self {
        let of_others = |taint: &&Taint| !LIFECYCLE.contains(&taint.key.as_str());
        Self {
            labels: node.metadata.labels.clone().unwrap_or_default(),
            taints: taints(node).iter().filter(of_others).cloned().collect(),
            unschedulable: is_cordoned(node),
        }
    }

    /// A merge patch with what the Node lacks; none where it lacks nothing. It carries the version that was seen: taints are
    /// replaced as a whole, and one that is set in between must not be lost.
    pub fn patch(&self, node: &Node) -> Option<Value> {
        let has = |key: &String| node.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(key));
        let labels: BTreeMap<_, _> = self.labels.iter().filter(|(key, _)| !has(key)).collect();
        let is_there =
            |taint: &Taint| taints(node).iter().any(|it| (&it.key, &it.effect) == (&taint.key, &taint.effect));
        let missing: Vec<_> = self.taints.iter().filter(|taint| !is_there(taint)).collect();
        let mut spec = json!({});
        if !missing.is_empty() {
            spec["taints"] = json!(taints(node).iter().chain(missing).collect::<Vec<_>>());
        }
        if is_cordoned(node) != self.unschedulable {
            spec["unschedulable"] = json!(self.unschedulable);
        }
        if labels.is_empty() && spec == json!({}) {
            return None;
        }
        let (uid, version) = (&node.metadata.uid, &node.metadata.resource_version);
        Some(json!({ "metadata": { "uid": uid, "resourceVersion": version, "labels": labels }, "spec": spec }))
    }
}

fn taints(node: &Node) -> &[Taint] {
    node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(labels: &Value, spec: &Value) -> Node {
        let metadata = json!({ "name": "w1", "uid": "u", "resourceVersion": "7", "labels": labels });
        serde_json::from_value(json!({ "metadata": metadata, "spec": spec })).unwrap()
    }

    fn taint(key: &str, value: &str) -> Value {
        json!({ "key": key, "value": value, "effect": "NoSchedule" })
    }

    #[test]
    fn what_is_missing_comes_back_and_nothing_else() {
        let not_ready = json!({ "key": "node.kubernetes.io/not-ready", "effect": "NoExecute" });
        let (db, web) = (taint("dedicated", "db"), taint("dedicated", "web"));
        let before = node(&json!({ "disk": "fast", "zone": "a" }), &json!({ "taints": [db, not_ready] }));
        let snapshot = NodeSnapshot::of(&before);
        assert_eq!(snapshot.taints.len(), 1, "how a node is does not come back");
        let noted = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<NodeSnapshot>(&noted).unwrap(), snapshot);

        let (all, none) = (json!({ "disk": "fast", "zone": "a" }), json!({}));
        for (case, labels, spec, expected) in [
            ("nothing is missing", all.clone(), json!({ "taints": [db] }), None),
            (
                "what others did stays",
                json!({ "disk": "slow", "zone": "a", "new": "" }),
                json!({ "taints": [web] }),
                None,
            ),
            (
                "a label",
                json!({ "zone": "b" }),
                json!({ "taints": [db] }),
                Some((json!({ "disk": "fast" }), none.clone())),
            ),
            (
                "a taint, beside those that are there",
                all.clone(),
                json!({ "taints": [not_ready] }),
                Some((none.clone(), json!({ "taints": [not_ready, db] }))),
            ),
            (
                "the cordon of the work goes",
                all.clone(),
                json!({ "taints": [db], "unschedulable": true }),
                Some((none.clone(), json!({ "unschedulable": false }))),
            ),
            ("a new Node", none.clone(), none.clone(), Some((all.clone(), json!({ "taints": [db] })))),
        ] {
            let expected = expected.map(|(labels, spec)| {
                json!({ "metadata": { "uid": "u", "resourceVersion": "7", "labels": labels }, "spec": spec })
            });
            assert_eq!(snapshot.patch(&node(&labels, &spec)), expected, "{case}");
        }
        let cordoned = NodeSnapshot { unschedulable: true, ..NodeSnapshot::default() };
        assert_eq!(cordoned.patch(&node(&none, &none)).unwrap()["spec"], json!({ "unschedulable": true }));
    }
}
