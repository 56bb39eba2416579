//! What travels: the bodies of requests and answers, below `/v1`.
//!
//! Within a version fields are only added, and readers pass over what they do not know. What changes a meaning gets a new
//! path.

use std::net::SocketAddr;

use explain::Diagnostic;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use spec::Node;

use crate::{Generation, Marks};

/// `GET`: who is there, and a challenge for [`JOIN`].
pub const HELLO: &str = "/v1/hello";
/// `POST`: certificates for a node that proves itself.
pub const JOIN: &str = "/v1/join";
/// `POST`: the cluster's keys, for a master that proves itself as in [`JOIN`].
pub const MASTER: &str = "/v1/master";
/// `POST`: what a node with a role in Ceph needs of its keys, for one that proves itself as in [`JOIN`].
pub const CEPH: &str = "/v1/ceph";
/// `GET`: the cluster's CA, proved with a token.
pub const CA: &str = "/v1/ca";
/// `POST`, with the agent's certificate: new certificates.
pub const RENEW: &str = "/v1/renew";
/// `POST`, with the agent's certificate: how the node is, as JSON; its `machine` is the [`crate::machine_id`].
pub const REPORT: &str = "/v1/report";
/// `POST`: how a node is that has no certificate yet and proves itself as in [`JOIN`].
pub const EARLY_REPORT: &str = "/v1/early-report";
/// `POST`, with the agent's certificate: the node goes.
pub const LEAVE: &str = "/v1/leave";
/// `POST`, with the certificate of a master's agent: a moment without writes to etcd.
pub const HOLD: &str = "/v1/hold";
/// `POST`, with the certificate of a master's agent: what opens the new keys of a rotation.
pub const ROTATION_KEY: &str = "/v1/rotation-key";
/// `GET`, with the certificate of a master's agent or of an administrator: how all nodes are.
pub const NODES: &str = "/v1/nodes";

/// Query of [`HELLO`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct HelloQuery {
    /// See [`crate::machine_id`]; to learn whether another node has the same. Only a client that shows a certificate gets an answer.
    pub machine_id: Option<String>,
}

/// Answer of [`HELLO`]. What is for insiders is shown to masters and administrators who show a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The cluster's name.
    pub cluster: String,
    /// The master's node name.
    pub master: String,
    /// Whether the cluster's API answers.
    pub ready: bool,
    /// To be repeated in one [`JoinRequest`] or [`EarlyReport`], within a minute.
    pub challenge: String,
    /// For a client that shows a certificate: the node that has the machine id that was asked about.
    pub machine: Option<String>,
    /// For insiders: how this master stands to the cluster.
    pub cluster_state: Option<ClusterState>,
    /// Whether it has what it takes to let others in.
    pub admits: bool,
    /// For insiders: which machine this master is, see [`crate::machine_id`].
    pub own_machine: Option<String>,
    /// What its clock says.
    pub now: Timestamp,
}

/// How a master stands to the cluster's etcd, which is the cluster's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterState {
    /// It has neither data nor the decision to start a member: for all it knows there is no cluster.
    Apart,
    /// It is decided what its member starts with.
    Decided,
    /// It has data.
    Member,
}

/// Body of [`JOIN`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JoinRequest {
    /// The cluster the node wants into.
    pub cluster: String,
    /// The node's name.
    pub node: String,
    /// What it claims to be.
    pub role: ClaimedRole,
    /// Which secret the proof is made with.
    pub credential: ClaimedCredential,
    /// From a [`Hello`] of the same master.
    pub challenge: String,
    /// What it wants signed.
    pub csrs: JoinCsrs,
    /// See [`crate::machine_id`].
    pub machine_id: Option<String>,
    /// base64url of an HMAC over all of the above.
    pub proof: String,
}

/// What a node is, as far as joining is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimedRole {
    /// Runs the control plane.
    Master,
    /// Does not.
    Worker,
}

impl ClaimedRole {
    /// What a node of the configuration is.
    pub fn of(node: &Node) -> Self {
        if node.runs_control_plane() { Self::Master } else { Self::Worker }
    }
}

impl std::fmt::Display for ClaimedRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Master => "master",
            Self::Worker => "worker",
        })
    }
}

/// Which secret a proof is made with; never the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimedCredential {
    /// A node's own, from its sealed directory.
    NodeSecret {
        /// The node it was made for.
        node: String,
        /// Which of the node's secrets it is.
        generation: Generation,
        /// When it ends, in unix seconds; 0 for never.
        expires: u32,
    },
    /// A token's.
    Token {
        /// The part before the dot.
        id: String,
    },
}

/// Body of [`MASTER`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MasterRequest {
    /// The cluster the master wants into.
    pub cluster: String,
    /// Its node name.
    pub node: String,
    /// Which secret the proof is made with.
    pub credential: ClaimedCredential,
    /// From a [`Hello`] of the same master.
    pub challenge: String,
    /// See [`crate::machine_id`].
    pub machine_id: Option<String>,
    /// [`crate::Claim::hash`] of what the machine made before it asked for the first time.
    pub claim: String,
    /// base64url of an HMAC over all of the above.
    pub proof: String,
}

/// Answer of [`MASTER`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MasterAnswer {
    /// base64url of the encrypted [`MasterKeys`](crate::MasterKeys).
    pub envelope: String,
}

/// Body of [`CEPH`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CephRequest {
    /// The cluster the node is in.
    pub cluster: String,
    /// Its name.
    pub node: String,
    /// Which secret the proof is made with.
    pub credential: ClaimedCredential,
    /// From a [`Hello`] of the same master.
    pub challenge: String,
    /// See [`crate::machine_id`].
    pub machine_id: Option<String>,
    /// Whether the node has seen a quorum of Ceph's monitors.
    pub is_initialized: bool,
    /// base64url of an HMAC over all of the above.
    pub proof: String,
}

/// Answer of [`CEPH`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CephAnswer {
    /// base64url of the encrypted [`Handed`](ceph::Handed).
    pub envelope: String,
}

/// Certificate requests of a node that joins, PEM.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JoinCsrs {
    /// The kubelet's towards the API.
    pub kubelet: String,
    /// kube-proxy's towards the API.
    pub kube_proxy: String,
    /// The agent's towards the join service.
    pub agent: String,
}

/// Answer of [`JOIN`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JoinAnswer {
    /// The cluster's CA, PEM.
    pub ca: String,
    /// The kubelet's certificate, PEM.
    pub kubelet: String,
    /// kube-proxy's certificate, PEM.
    pub kube_proxy: String,
    /// The agent's certificate, PEM.
    pub agent: String,
    /// Where API servers are, or will be.
    pub api_servers: Vec<SocketAddr>,
}

/// Query of [`CA`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaQuery {
    /// The token's id.
    pub token: String,
    /// Random, by the client, so that an old answer is of no use.
    pub nonce: String,
}

/// Answer of [`CA`]. Received from an unknown party: worth nothing before the proof is checked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaAnswer {
    /// The cluster's CA, PEM.
    pub ca: String,
    /// base64url of an HMAC over nonce and CA under the token's secret.
    pub proof: String,
}

/// Body of [`RENEW`], PEM.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RenewCsrs {
    /// The kubelet's, which renews its own: only while the cluster's CA is replaced.
    #[serde(default)]
    pub kubelet: Option<String>,
    /// kube-proxy's.
    pub kube_proxy: String,
    /// The agent's.
    pub agent: String,
    /// The secret of the node's sealed directory, if it is to be followed by another one.
    #[serde(default)]
    pub secret: Option<ClaimedCredential>,
}

/// Answer of [`RENEW`], PEM.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RenewAnswer {
    /// The cluster's CA; several while it is replaced, the one that signs first.
    pub ca: String,
    /// The kubelet's certificate, if it was asked for.
    #[serde(default)]
    pub kubelet: Option<String>,
    /// kube-proxy's certificate.
    pub kube_proxy: String,
    /// The agent's certificate.
    pub agent: String,
    /// The node's next secret, if it was asked for and there is a join key.
    #[serde(default)]
    pub secret: Option<NewSecret>,
}

/// A node's next secret, of the join key that is in use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewSecret {
    /// [`crate::JoinKey::mark`] of the key it is of.
    pub of: String,
    /// Each can be opened with another secret that the node may hold: base64url.
    pub envelopes: Vec<String>,
}

/// Answer of [`REPORT`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    /// What every node is to trust and to hold; `None` where it is unknown at this moment.
    #[serde(default)]
    pub marks: Option<Marks>,
    /// True while keys are replaced: nodes look at themselves again at each report.
    #[serde(default)]
    pub rotating: bool,
}

/// Body of [`EARLY_REPORT`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EarlyReport {
    /// The cluster the node wants into.
    pub cluster: String,
    /// The node's name.
    pub node: String,
    /// Which secret the proof is made with.
    pub credential: ClaimedCredential,
    /// From a [`Hello`] of the same master.
    pub challenge: String,
    /// What the node says: JSON as text, because the proof is over these very bytes.
    pub status: String,
    /// base64url of an HMAC over all of the above.
    pub proof: String,
}

/// Body of [`HOLD`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Whether writes are held back from now on, or go on.
    pub hold: bool,
}

/// Answer of [`ROTATION_KEY`]. Worth nothing without the key that encrypts Secrets.
#[derive(Clone, Serialize, Deserialize)]
pub struct RotationKey {
    /// Absent on a master that has none.
    pub key: Option<String>,
}

/// Answer of [`NODES`]: what one master knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// The cluster's name.
    pub cluster: String,
    /// The master's node name.
    pub master: String,
    /// The master's time, by which its other times are to be read.
    pub now: Timestamp,
    /// Since when it listens; it remembers nothing from before.
    pub listening_since: Timestamp,
    /// Every node of its cluster.yaml, also those it never heard of.
    pub nodes: Vec<KnownNode>,
    /// The temporary bootstrap node of its cluster.yaml, which is none of the nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<KnownNode>,
}

/// One node in the answer of [`NODES`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownNode {
    /// The node's name.
    pub node: String,
    /// What it is in cluster.yaml.
    pub role: ClaimedRole,
    /// Its last report; absent if there is none.
    pub report: Option<Report>,
}

/// What a node reported of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// When this master received it.
    pub received: Timestamp,
    /// True if the node had no certificate yet.
    pub early: bool,
    /// The report; its form is the agents' own affair.
    pub status: serde_json::Value,
}

/// Body of every refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Why.
    #[serde(flatten)]
    pub diagnostic: Diagnostic<String>,
    /// True if the same request may be granted later.
    pub retryable: bool,
}
