//! Whether a node can run pods, as Kubernetes says it: the Ready condition of its Node. Pure.
//!
//! A Node stays Ready for a while after its machine went down. After a restart of the machine the boot counts as well.

use jiff::Timestamp;
use kubeapi::k8s_openapi::api::core::v1::{Node, NodeCondition};

/// What the Ready condition of a Node says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It can run pods, since then.
    Ready(Option<Timestamp>),
    /// Its kubelet reports that it cannot, with this message.
    NotReady(Option<String>),
    /// Its kubelet was not heard of for longer than Kubernetes waits; the words of the controller that misses it.
    Silent(Option<String>),
    /// Nothing was reported of it yet.
    Unreported,
    /// What is reported of it is of another boot of its machine.
    OtherBoot,
}

impl Readiness {
    /// Of a Node's conditions.
    pub fn of(conditions: &[NodeCondition]) -> Self {
        let Some(ready) = conditions.iter().find(|condition| condition.type_ == "Ready") else {
            return Self::Unreported;
        };
        let words = || ready.message.clone().or_else(|| ready.reason.clone());
        match ready.status.as_str() {
            "True" => Self::Ready(ready.last_transition_time.as_ref().map(|time| time.0)),
            "Unknown" => Self::Silent(words()),
            _ => Self::NotReady(words()),
        }
    }

    /// Of a Node, whichever boot of its machine it is of.
    pub fn of_node(node: &Node) -> Self {
        Self::of(node.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default())
    }

    /// Of a Node, as far as this boot of its machine has reported it.
    pub fn of_boot(node: &Node, boot_id: &str) -> Self {
        let info = node.status.as_ref().and_then(|status| status.node_info.as_ref());
        if info.is_some_and(|info| info.boot_id == boot_id) { Self::of_node(node) } else { Self::OtherBoot }
    }

    /// Whether it can run pods.
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Ready(_))
    }

    /// Why it cannot, if that is reported.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::NotReady(words) | Self::Silent(words) => words.as_deref(),
            Self::Ready(_) | Self::Unreported | Self::OtherBoot => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(conditions: &Value) -> Node {
        let info = json!({ "architecture": "", "bootID": "b2", "containerRuntimeVersion": "", "kernelVersion": "",
                           "kubeProxyVersion": "", "kubeletVersion": "", "machineID": "", "operatingSystem": "",
                           "osImage": "", "systemUUID": "" });
        let status = json!({ "conditions": conditions, "nodeInfo": info });
        serde_json::from_value(json!({ "metadata": { "name": "worker-01" }, "status": status })).unwrap()
    }

    #[test]
    fn what_the_condition_says() {
        let at = "2026-11-17T12:00:00Z";
        let since = at.parse().ok();
        let ready = |status: &str, message: Option<&str>| {
            json!([{ "type": "DiskPressure", "status": "True" },
                   { "type": "Ready", "status": status, "message": message, "reason": "Because",
                     "lastTransitionTime": at }])
        };
        let words = |why: &str| Some(why.to_owned());
        for (conditions, expected) in [
            (ready("True", Some("posting")), Readiness::Ready(since)),
            (ready("False", Some("no CNI")), Readiness::NotReady(words("no CNI"))),
            (ready("False", None), Readiness::NotReady(words("Because"))),
            (ready("Unknown", Some("stopped posting")), Readiness::Silent(words("stopped posting"))),
            (json!([{ "type": "DiskPressure", "status": "True" }]), Readiness::Unreported),
            (json!([]), Readiness::Unreported),
        ] {
            let node = node(&conditions);
            assert_eq!(Readiness::of_node(&node), expected, "{conditions}");
            assert_eq!(Readiness::of_boot(&node, "b2"), expected, "{conditions}");
            assert_eq!(Readiness::of_boot(&node, "b3"), Readiness::OtherBoot, "{conditions}");
            assert_eq!(expected.why().is_some(), matches!(conditions[1]["status"].as_str(), Some("False" | "Unknown")));
            assert_eq!(expected.is_ready(), conditions[1]["status"] == "True", "{conditions}");
        }
        let bare: Node = serde_json::from_value(json!({ "metadata": { "name": "new" } })).unwrap();
        assert_eq!(Readiness::of_node(&bare), Readiness::Unreported);
        assert_eq!(Readiness::of_boot(&bare, "b2"), Readiness::OtherBoot);
    }
}
