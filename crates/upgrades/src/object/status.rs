//! How far a node is. All the controller knows is here, so that any can go on from it.

use std::collections::BTreeSet;

use explain::{Diagnostic, Message};
use jiff::Timestamp;
use kubeapi::k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use operations::node_snapshot::NodeSnapshot;
use serde::{Deserialize, Serialize};

use super::{Driver, Phase};
use crate::progress::Outbox;

/// How far a node is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeUpgradeStatus {
    /// How far.
    pub phase: Phase,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The generation of the spec that this is about.
    pub observed_generation: i64,
    /// How many times the work was begun.
    pub attempt: u32,
    /// The id of the run: no node does anything twice for the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// By which driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<Driver>,
    /// What the node waits for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Message<String>>,
    /// Why it was refused, went back, or is stuck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Diagnostic<String>>,
    /// What others had set on the Node before we touched it. Written once in a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<NodeSnapshot>,
    /// Pods that belong on the Node and were not Ready before we touched it, so that it does not go back for them. Written with
    /// the snapshot.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub not_ready_before: BTreeSet<String>,
    /// In which boot the machine was when the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot_id_before: Option<String>,
    /// Which end [`Phase::Restoring`] leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<Phase>,
    /// What the node was, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it is to become, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The progress the node showed last, and when that was seen here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// Since when all gates hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates_since: Option<Timestamp>,
    /// The target that was rolled back on this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_target: Option<String>,
    /// Which Secret the run was begun with, so that none but that is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_uid: Option<String>,
    /// The value of the retry annotation that was followed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retried: Option<String>,
    /// The value of the abort annotation that was followed last, or that came too late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted: Option<String>,
    /// What an outside API is still to hear about it.
    #[serde(skip_serializing_if = "Outbox::is_empty")]
    pub outbox: Outbox,
    /// For `kubectl wait`, Flux and Argo CD.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl NodeUpgradeStatus {
    /// Whether the node is taken away from the cluster, so that it counts against the limit: one that was Stuck and is to be
    /// tried again is still as the last run left it.
    pub const fn holds_slot(&self) -> bool {
        self.phase.holds_slot() || self.is_as_left()
    }

    /// Whether a run has left the node as it was at the end of that, and not as it was before.
    pub const fn is_as_left(&self) -> bool {
        matches!(self.phase, Phase::Pending) && self.snapshot.is_some()
    }
}

/// What a node has shown, and when that was seen by the controller's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// As the node counts it.
    pub count: u64,
    /// When it was seen to change.
    pub at: Timestamp,
}
