//! What a node asks once it is in: new certificates, and how the others are.

use std::net::SocketAddr;

use serde::{Serialize, de::DeserializeOwned};

use super::{
    JoinError, call,
    keys::{RenewKeys, Renewed, Whose},
    reached::Reached,
};
use crate::{
    NodeSecret, new_secret,
    wire::{self, Heard, NewSecret, Nodes, RenewAnswer},
};

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

    /// New keys and certificates for this node, and a secret to follow the one it holds.
    pub async fn renew(&self, node: &str, whose: Whose, held: Option<&NodeSecret>) -> Result<Renewed, JoinError> {
        let keys = RenewKeys::generate(node)?;
        let asked = keys.csrs(whose, held);
        let answer: RenewAnswer = self.post(wire::RENEW, &asked).await?;
        let open = |new: &NewSecret| Some((new_secret::open(new, held?, &asked.agent)?, new.of.clone()));
        let secret = answer.secret.as_ref().and_then(open);
        Ok(keys.renewed(answer, secret))
    }

    /// Reports how this node is, and hears what every node is to know.
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
