//! The object of one node: what is wanted of it, and how far it is. Its name is the Node's, so there is never a second one.

mod conditions;
mod phase;
mod plan;
mod spec;
mod status;

use std::borrow::Cow;

use kubeapi::{
    k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
    kube::{Resource, core::ClusterResourceScope},
};
use serde::{Deserialize, Serialize};

pub use conditions::{Conditions, conditions};
pub use phase::Phase;
pub use plan::{UpgradePlan, UpgradePlanSpec, UpgradePlanStatus};
pub use spec::{Deadlines, Drain, DrainPolicy, Driver, NodeUpgradeSpec, OnTimeout, Rollback, Soak};
pub use status::{NodeUpgradeStatus, Progress};

use crate::names;

/// The work on one Node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeUpgrade {
    /// `blackstart.io/v1alpha1`.
    pub api_version: String,
    /// `NodeUpgrade`.
    pub kind: String,
    /// Its name is the Node's.
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(default)]
    pub spec: NodeUpgradeSpec,
    /// How far it is.
    #[serde(default)]
    pub status: NodeUpgradeStatus,
}

impl NodeUpgrade {
    /// A new one.
    pub fn new(node: &str, spec: NodeUpgradeSpec) -> Self {
        Self {
            api_version: Self::api_version(&()).into_owned(),
            kind: Self::kind(&()).into_owned(),
            metadata: ObjectMeta {
                name: Some(node.to_owned()),
                finalizers: Some(vec![names::FINALIZER.to_owned()]),
                ..ObjectMeta::default()
            },
            spec,
            status: NodeUpgradeStatus::default(),
        }
    }

    /// The Node it is about.
    pub fn node(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// The name of its Secret: by the spec, else by the Node's name.
    pub fn secret(&self) -> String {
        self.spec.secret.clone().unwrap_or_else(|| names::secret(self.node()))
    }

    /// The value of one of its annotations.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }
}

impl Resource for NodeUpgrade {
    type DynamicType = ();
    type Scope = ClusterResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "NodeUpgrade".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        names::GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        names::VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "nodeupgrades".into()
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
    use super::*;

    #[test]
    fn a_new_one_has_all_defaults_and_is_read_back() {
        let new = NodeUpgrade::new("worker-01", NodeUpgradeSpec::default());
        let text = serde_json::to_string_pretty(&new).unwrap();
        insta::assert_snapshot!(text);
        assert_eq!(serde_json::from_str::<NodeUpgrade>(&text).unwrap(), new);
        let bare = r#"{"apiVersion":"blackstart.io/v1alpha1","kind":"NodeUpgrade","metadata":{"name":"w"}}"#;
        let bare: NodeUpgrade = serde_json::from_str(bare).unwrap();
        assert_eq!((bare.spec, bare.status.phase), (NodeUpgradeSpec::default(), Phase::Pending));
    }
}
