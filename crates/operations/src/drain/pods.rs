//! Which pods leave a node that is drained. Pure.
//!
//! Pods of a `DaemonSet` stay: it would start them again on the same node. So do pods that tolerate the cordon: their
//! manifest says that they belong on such a node, and the scheduler would put them there again. Mirror pods stay: they are
//! pictures of what the kubelet runs on its own. Everything else goes, also what no controller starts again elsewhere, and
//! that is reported.

use std::fmt;

use kubeapi::{k8s_openapi::api::core::v1::Pod, kube::ResourceExt};

const MIRROR: &str = "kubernetes.io/config.mirror";
/// What a cordoned node is tainted with.
const CORDON: &str = "node.kubernetes.io/unschedulable";
/// So many names are shown; the rest is counted.
const SHOWN: usize = 5;

/// A pod that has to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaving {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    /// Its deletion has begun already.
    pub(crate) is_ending: bool,
    /// No controller starts it again.
    pub(crate) is_alone: bool,
    /// A budget may hold one that is not Ready for ever.
    pub(crate) is_ready: bool,
}

impl fmt::Display for Leaving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The pod, if it is one that has to go.
pub(super) fn leaving(pod: &Pod) -> Option<Leaving> {
    let controller = pod.owner_references().iter().find(|owner| owner.controller == Some(true));
    let stays = controller.is_some_and(|owner| owner.kind == "DaemonSet")
        || tolerates_cordon(pod)
        || pod.annotations().contains_key(MIRROR);
    if stays {
        return None;
    }
    Some(Leaving {
        namespace: pod.namespace().unwrap_or_default(),
        name: pod.name_any(),
        uid: pod.uid().unwrap_or_default(),
        is_ending: pod.metadata.deletion_timestamp.is_some(),
        is_alone: controller.is_none(),
        is_ready: is_ready(pod),
    })
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn tolerates_cordon(pod: &Pod) -> bool {
    let mut all = pod.spec.iter().filter_map(|spec| spec.tolerations.as_ref()).flatten();
    all.any(|toleration| {
        let is_of_it = match toleration.key.as_deref() {
            None | Some("") => toleration.operator.as_deref() == Some("Exists"),
            Some(key) => key == CORDON,
        };
        is_of_it && matches!(toleration.effect.as_deref(), None | Some("" | "NoSchedule"))
    })
}

/// Their names, as far as a person reads them.
pub(super) fn listed(pods: &[Leaving]) -> String {
    let reported = |pod: &Leaving| {
        if pod.is_alone { format!("{pod} (no controller restarts it)") } else { pod.to_string() }
    };
    // Those that are lost for good are not left out.
    let (alone, others): (Vec<&Leaving>, Vec<&Leaving>) = pods.iter().partition(|pod| pod.is_alone);
    let shown = alone.len().max(SHOWN);
    let mut names: Vec<String> = alone.into_iter().chain(others).take(shown).map(reported).collect();
    if pods.len() > shown {
        names.push(format!("{} more", pods.len() - shown));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(metadata: &Value) -> Pod {
        let mut whole = json!({ "namespace": "default", "name": "p", "uid": "u" });
        for (key, value) in metadata.as_object().unwrap() {
            whole[key] = value.clone();
        }
        serde_json::from_value(json!({ "metadata": whole })).unwrap()
    }

    fn owned(kind: &str) -> Value {
        json!({ "ownerReferences": [{ "apiVersion": "v1", "kind": kind, "name": "o", "uid": "o", "controller": true }] })
    }

    #[test]
    fn who_goes_and_who_stays() {
        for (what, metadata, expected) in [
            ("of a Deployment", owned("ReplicaSet"), Some((false, false))),
            ("of a DaemonSet", owned("DaemonSet"), None),
            ("of a Job", owned("Job"), Some((false, false))),
            ("without a controller", json!({}), Some((false, true))),
            ("a mirror", json!({ "annotations": { MIRROR: "x" } }), None),
            ("that ends", json!({ "deletionTimestamp": "2026-11-16T08:00:00Z" }), Some((true, true))),
        ] {
            let found = leaving(&pod(&metadata)).map(|pod| (pod.is_ending, pod.is_alone));
            assert_eq!(found, expected, "a pod {what}");
        }
    }

    #[test]
    fn what_tolerates_the_cordon_stays() {
        for (tolerations, expected) in [
            (json!([]), true),
            (json!([{ "operator": "Exists" }]), false),
            (json!([{ "key": CORDON, "operator": "Exists", "effect": "NoSchedule" }]), false),
            (json!([{ "operator": "Exists", "effect": "NoExecute" }]), true),
            (json!([{ "key": "node-role.kubernetes.io/control-plane", "operator": "Exists" }]), true),
        ] {
            let mut pod = pod(&owned("ReplicaSet"));
            pod.spec = Some(serde_json::from_value(json!({ "containers": [], "tolerations": tolerations })).unwrap());
            assert_eq!(leaving(&pod).is_some(), expected, "{tolerations}");
        }
    }

    #[test]
    fn what_is_lost_is_always_named() {
        let one = |number: usize, is_alone| Leaving {
            namespace: "default".into(),
            name: format!("p{number}"),
            uid: String::new(),
            is_ending: false,
            is_alone,
            is_ready: true,
        };
        let pods = |alone: usize, others: usize| -> Vec<Leaving> {
            (0..others)
                .map(|number| one(number, false))
                .chain((0..alone).map(|number| one(90 + number, true)))
                .collect()
        };
        let cases = [(0, 2), (0, 7), (1, 7), (6, 2)];
        insta::assert_snapshot!(cases.map(|(alone, others)| listed(&pods(alone, others))).join("\n"), @r"
        default/p0, default/p1
        default/p0, default/p1, default/p2, default/p3, default/p4, 2 more
        default/p90 (no controller restarts it), default/p0, default/p1, default/p2, default/p3, 3 more
        default/p90 (no controller restarts it), default/p91 (no controller restarts it), default/p92 (no controller restarts it), default/p93 (no controller restarts it), default/p94 (no controller restarts it), default/p95 (no controller restarts it), 2 more
        ");
    }
}
