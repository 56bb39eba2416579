//! What is seen of the cluster before it is decided what comes next.

use std::collections::BTreeSet;

use jiff::Timestamp;
use operations::node_snapshot::NodeSnapshot;

use crate::{Driver, NodeReport, Order};

/// What is seen of the cluster now.
#[derive(Debug, Clone)]
pub struct Seen {
    /// By the controller's clock, the only one that deadlines are counted by.
    pub now: Timestamp,
    /// The Node; none once it is gone.
    pub node: Option<NodeSeen>,
    /// The node's Secret.
    pub secret: SecretSeen,
    /// Which one it is: a new one of the same name is another.
    pub secret_uid: Option<String>,
    /// Whether the node may be taken away from the cluster.
    pub slot: SlotSeen,
    /// Why no further node may be taken away now.
    pub others: Option<String>,
    /// Why progress cannot be reported, where the Secret requires it.
    pub no_progress: Option<String>,
    /// What the node reports, of whatever run.
    pub report: Option<NodeReport>,
    /// What is still to leave the node; observed while it is drained.
    pub leaving: Leaving,
    /// Pods that belong on the node and are not Ready, by names that last; observed before it is taken away, and while it is
    /// gated.
    pub not_ready_pods: BTreeSet<String>,
    /// No pod removes the label here: the controller commits.
    pub commits: bool,
}

/// A Node.
#[derive(Debug, Clone, Default)]
pub struct NodeSeen {
    /// It asks for the work.
    pub is_labelled: bool,
    /// Pods are kept away.
    pub is_cordoned: bool,
    /// In which boot its kubelet runs.
    pub boot_id: String,
    /// Why it is not Ready, if it is not.
    pub not_ready: Option<String>,
    /// What it is to do.
    pub order: Option<Order>,
    /// What others have set on it.
    pub snapshot: NodeSnapshot,
}

/// The Secret of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSeen {
    /// There is none of this name.
    Missing(String),
    /// It cannot be used.
    Bad(String),
    /// It is for this driver.
    For(Driver),
}

/// The slot of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotSeen {
    /// It is held for this node.
    Held,
    /// There is none yet; it can be tried.
    Free,
    /// Others hold all.
    Full(String),
}

/// What is still to leave a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leaving {
    /// Pods, and what holds them back.
    pub pods: Option<String>,
    /// Volumes that are still attached.
    pub volumes: Option<String>,
}
