//! What a node asks once it is in: new certificates, and how the others are.

use std::net::SocketAddr;

use serde::{Serialize, de::DeserializeOwned};

use super::{JoinError, Pair, call, keys::RenewKeys, reached::Reached};
use crate::wire::{self, Heard, Nodes};

/// New certificates for a node.
#[derive(Debug, Clone)]
pub struct Renewed {
    /// The cluster's authority, PEM.
    pub ca_pem: String,
    /// For the kubelet, if it was asked for.
    pub kubelet: Option<Pair>,
    /// For kube-proxy.
    pub kube_proxy: Pair,
    /// For the agent.
    pub agent: Pair,
}

/// For whom certificates are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those that do not look after themselves.
    Ours,
    /// The kubelet too, which keeps its own until its end: the authority is another one.
    All,
}

/// Talks to the join services with a certificate of the cluster: an agent's, or an administrator's to look only.
#[derive(Debug)]
pub struct Member {
    masters: Vec<SocketAddr>,
    http: reqwest::Client,
    reached: Reached,
}

impl Member {
    /// With a certificate and its key, PEM. After a renewal, make a new one.
    pub fn new(masters: Vec<SocketAddr>, ca_pem: &str, identity: (&str, &str)) -> Result<Self, JoinError> {
        Ok(Self { masters, http: tls::client(ca_pem, Some(identity))?, reached: Reached::default() })
    }

    /// New keys and certificates for this node.
    pub async fn renew(&self, node: &str, whose: Whose) -> Result<Renewed, JoinError> {
        let keys = RenewKeys::generate(node)?;
        self.post(wire::RENEW, &keys.csrs(whose)).await.map(|answer| keys.renewed(answer))
    }

    /// Tells how this node is, and hears what every node is to know.
    pub async fn report(&self, status: &impl Serialize) -> Result<Heard, JoinError> {
        self.post(wire::REPORT, status).await
    }

    /// Every node with its last report, as one master has received them.
    pub async fn nodes(&self) -> Result<Nodes, JoinError> {
        let mut round = self.reached.round();
        for master in &self.reached.order(&self.masters) {
            match call::get(&self.http, *master, wire::NODES, &()).await {
                Ok(nodes) => return Ok(round.reached(*master, nodes)),
                Err(error) => round.failed(*master, error)?,
            }
        }
        Err(round.verdict())
    }

    pub(super) async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, JoinError> {
        let mut round = self.reached.round();
        for master in &self.reached.order(&self.masters) {
            match call::post(&self.http, *master, path, body).await {
                Ok(answer) => return Ok(round.reached(*master, answer)),
                Err(error) => round.failed(*master, error)?,
            }
        }
        Err(round.verdict())
    }
}
