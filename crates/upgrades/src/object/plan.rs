//! Nodes that are worked on in place, so many at once.

use std::borrow::Cow;

use kubeapi::{
    k8s_openapi::apimachinery::pkg::{
        apis::meta::v1::{Condition, LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
    kube::{Resource, core::ClusterResourceScope},
};
use serde::{Deserialize, Serialize};

use super::{Deadlines, Drain, Driver, NodeUpgradeSpec, Rollback, Soak};
use crate::names;

/// Nodes that are worked on in place, so many at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpgradePlan {
    /// `blackstart.io/v1alpha1`.
    pub api_version: String,
    /// `UpgradePlan`.
    pub kind: String,
    /// Its name is in the spec of each `NodeUpgrade` that it makes.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: UpgradePlanSpec,
    /// How far it is.
    #[serde(default)]
    pub status: UpgradePlanStatus,
}

/// What is wanted of nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpgradePlanSpec {
    /// By which driver; by the keys of each node's Secret where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<Driver>,
    /// Which nodes. An empty selector takes all.
    pub nodes: LabelSelector,
    /// How many of them may be away at once; of masters never more than one.
    #[serde(default = "one")]
    pub max_unavailable: IntOrString,
    /// No further node is begun.
    #[serde(default)]
    pub paused: bool,
    /// No further node is begun once one has failed.
    #[serde(default = "yes")]
    pub stop_on_failure: bool,
    /// How pods leave a node.
    #[serde(default)]
    pub drain: Drain,
    /// For how long all gates must hold.
    #[serde(default)]
    pub soak_seconds: Soak,
    /// Whether a node that fails goes back by itself.
    #[serde(default)]
    pub rollback: Rollback,
    /// How long each part may take.
    #[serde(default)]
    pub deadlines: Deadlines,
}

const fn one() -> IntOrString {
    IntOrString::Int(1)
}

const fn yes() -> bool {
    true
}

/// How far a plan is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct UpgradePlanStatus {
    /// The generation of the spec that this is about.
    pub observed_generation: i64,
    /// How many nodes it selects.
    pub total: usize,
    /// How many of them are done.
    pub done: usize,
    /// How many are being worked on.
    pub active: usize,
    /// How many were refused, went back or are stuck.
    pub failed: usize,
    /// One sentence: what it waits for, or why it has stopped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// For `kubectl wait`, Flux and Argo CD.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl UpgradePlan {
    /// Its name.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// Which state of its spec a node was begun for: a plan that changed begins all of its nodes again.
    pub fn mark(&self) -> String {
        format!("{}-{}", self.name(), self.metadata.generation.unwrap_or_default())
    }

    /// What it wants of each node.
    pub fn of_node(&self) -> NodeUpgradeSpec {
        let UpgradePlanSpec { driver, drain, soak_seconds, rollback, deadlines, .. } = self.spec.clone();
        NodeUpgradeSpec {
            driver,
            secret: None,
            plan: Some(self.name().to_owned()),
            drain,
            soak_seconds,
            rollback,
            deadlines,
        }
    }
}

impl Resource for UpgradePlan {
    type DynamicType = ();
    type Scope = ClusterResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "UpgradePlan".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        names::GROUP.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        names::VERSION.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "upgradeplans".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
