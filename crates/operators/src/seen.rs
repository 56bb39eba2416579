//! What was seen of a cluster, as far as it is evaluated.

/// A cluster at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// How many masters cluster.yaml had when the bootstrap node began.
    pub masters: usize,
    /// The version that the API server says it has, such as `1.36.3`.
    pub version: String,
    /// The masters have taken over: ConfigMap `kube-system/bootstrap` says so.
    pub is_complete: bool,
    /// All Nodes but the bootstrap node's.
    pub nodes: Vec<Node>,
    /// Addresses that the Service `kubernetes` leads to and that are no master's.
    pub strangers: Vec<String>,
    /// Whose controller manager works.
    pub controller_manager: Leader,
    /// Whose scheduler works.
    pub scheduler: Leader,
    /// The pods of the cluster's DNS; `None` where it was not deployed yet.
    pub dns: Option<Replicas>,
}

impl Seen {
    /// A cluster of which only the bootstrap node is there, which is to have so many masters.
    pub fn nothing(masters: usize) -> Self {
        Self {
            masters,
            version: String::new(),
            is_complete: false,
            nodes: Vec::new(),
            strangers: Vec::new(),
            controller_manager: Leader::None,
            scheduler: Leader::None,
            dns: None,
        }
    }
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What its API server answers; `None` for a worker.
    pub api: Option<Api>,
    /// Why it is not Ready.
    pub not_ready: Option<String>,
    /// Why its pods have no network.
    pub no_network: Option<String>,
    /// Its kubelet's version.
    pub version: String,
}

/// What a master's API server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Api {
    /// It serves.
    Ready,
    /// It answers; these checks of its own fail.
    NotReady(Vec<String>),
    /// It does not answer.
    Silent,
}

/// Who leads, of processes of which one works at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leader {
    /// The Lease has no holder, or there is none.
    None,
    /// This machine's process, which renews its Lease.
    Leads(String),
    /// This machine's process had it, and does not renew it any more.
    Lost(String),
}

/// Pods of a Deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replicas {
    /// Those that are ready.
    pub ready: usize,
    /// Those that there should be.
    pub wanted: usize,
}
