//! A Node as the agent needs it. What is not named here is dropped while it is read: a whole Node, with the list of its
//! images, takes tens of kilobytes.

use std::{borrow::Cow, net::IpAddr};

use jiff::Timestamp;
use k8s_openapi::{api::core::v1::NodeCondition, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::core::{ClusterResourceScope, Resource};
use operations::readiness::Readiness;
use serde::Deserialize;

/// A Node, without what is not asked for here.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct NodeObject {
    pub(crate) metadata: ObjectMeta,
    #[serde(default)]
    pub(crate) spec: Spec,
    #[serde(default)]
    pub(crate) status: Status,
}

/// What was decided for it.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Spec {
    #[serde(default, rename = "podCIDRs")]
    pub(crate) pod_cidrs: Vec<String>,
}

/// What its kubelet says.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    #[serde(default)]
    pub(crate) addresses: Vec<Address>,
    #[serde(default)]
    pub(crate) node_info: NodeInfo,
    #[serde(default)]
    pub(crate) conditions: Vec<NodeCondition>,
}

/// One of its addresses or names.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Address {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) address: String,
}

/// What identifies the machine.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct NodeInfo {
    #[serde(default, rename = "machineID")]
    pub(crate) machine_id: String,
}

impl NodeObject {
    pub(crate) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// Since when it is Ready, if it is.
    pub(crate) fn ready_since(&self) -> Option<Timestamp> {
        let Readiness::Ready(since) = Readiness::of(&self.status.conditions) else { return None };
        Some(since.unwrap_or_default())
    }

    /// The addresses under which other nodes reach it.
    pub(crate) fn internal_ips(&self) -> impl Iterator<Item = IpAddr> {
        let internal = self.status.addresses.iter().filter(|address| address.kind == "InternalIP");
        internal.filter_map(|address| address.address.parse().ok())
    }
}

impl Resource for NodeObject {
    type DynamicType = ();
    type Scope = ClusterResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "Node".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "nodes".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_whole_node_and_a_bare_one_can_be_read() {
        let whole: NodeObject = serde_json::from_value(json!({
            "apiVersion": "v1", "kind": "Node", "metadata": { "name": "worker-01" },
            "spec": { "podCIDR": "10.244.1.0/24", "podCIDRs": ["10.244.1.0/24"], "taints": [] },
            "status": {
                "addresses": [
                    { "type": "InternalIP", "address": "10.0.0.2" }, { "type": "Hostname", "address": "worker-01" },
                ],
                "images": [{ "names": ["a"], "sizeBytes": 1 }],
                "nodeInfo": { "machineID": "abc", "bootID": "def" },
            },
        }))
        .unwrap();
        assert_eq!((whole.name(), whole.spec.pod_cidrs.len()), ("worker-01", 1));
        assert_eq!(whole.internal_ips().collect::<Vec<_>>(), ["10.0.0.2".parse::<IpAddr>().unwrap()]);
        assert_eq!(whole.status.node_info.machine_id, "abc");

        let bare: NodeObject = serde_json::from_value(json!({ "metadata": { "name": "new" } })).unwrap();
        assert_eq!((bare.spec.pod_cidrs.len(), bare.internal_ips().count()), (0, 0));
    }
}
