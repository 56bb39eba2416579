//! Whether a node gets in. Pure: everything the decision needs is passed in, and nothing is changed.
//!
//! Who does not prove to hold a secret learns only that; every other check comes behind the proof. A machine that is not
//! in cluster.yaml is refused here whatever `unlisted_nodes` says: that rule is for `kubeadm join`, which goes through the
//! API and not through this service.

use std::net::IpAddr;

use jiff::Timestamp;
use pki::Request;
use secrecy::{ExposeSecret, SecretSlice};
use spec::ValidatedCluster;

use crate::{
    NodeSecret, Purpose, Refusal, proof,
    server::StoredToken,
    wire::{ClaimedRole, JoinRequest},
};

/// What a credential is, as the master knows it.
#[derive(Debug)]
pub struct Key {
    secret: SecretSlice<u8>,
    expires: Option<Timestamp>,
    node: Option<String>,
}

impl From<NodeSecret> for Key {
    fn from(secret: NodeSecret) -> Self {
        Self { secret: secret.bytes().clone(), expires: secret.expires, node: Some(secret.node) }
    }
}

impl From<StoredToken> for Key {
    fn from(token: StoredToken) -> Self {
        let secret = token.secret.expose_secret().as_bytes().to_vec().into();
        Self { secret, expires: token.expires, node: token.node }
    }
}

/// What the master knows beside the request.
#[derive(Debug)]
pub struct Circumstances<'a> {
    /// The cluster as configured on this master.
    pub cluster: &'a ValidatedCluster,
    /// Where the request comes from.
    pub peer: IpAddr,
    /// The credential that the request names.
    pub key: &'a Key,
    /// The node that is known to have the request's machine id.
    pub machine_owner: Option<&'a str>,
    /// The master's time.
    pub now: Timestamp,
}

/// What is to be signed for a node that got in.
#[derive(Debug)]
pub struct Grant {
    /// The node.
    pub node: String,
    /// Its requests, each with what it is for.
    pub kubelet: Request,
    /// kube-proxy's request.
    pub kube_proxy: Request,
    /// The agent's request.
    pub agent: Request,
}

/// Decides on a request whose challenge is good.
pub fn admit(request: &JoinRequest, seen: &Circumstances<'_>) -> Result<Grant, Refusal> {
    let Circumstances { cluster, peer, key, machine_owner, now } = *seen;
    if request.cluster != cluster.name() {
        return Err(Refusal::WrongCluster { own: cluster.name().to_owned(), wanted: request.cluster.clone() });
    }
    if !proof::request_is_proved(key.secret.expose_secret(), request) {
        return Err(Refusal::WrongProof);
    }
    if let Some(when) = key.expires.filter(|when| *when <= now) {
        return Err(Refusal::Expired { when, now });
    }
    let claimed = request.node.clone();
    if let Some(bound) = key.node.clone().filter(|bound| *bound != claimed) {
        return Err(Refusal::OtherNode { bound, claimed });
    }
    let Some(node) = cluster.node(&claimed) else { return Err(Refusal::UnknownNode { node: claimed }) };
    let configured = ClaimedRole::of(node);
    if configured != request.role {
        return Err(Refusal::WrongRole { node: claimed, configured, claimed: request.role });
    }
    if node.ip != peer {
        return Err(Refusal::WrongAddress { node: claimed, configured: node.ip, seen: peer });
    }
    if let Some(owner) = machine_owner.filter(|owner| *owner != claimed) {
        return Err(Refusal::DuplicateMachine { owner: owner.to_owned(), node: claimed });
    }
    Ok(Grant {
        kubelet: wanted(Purpose::Kubelet, &claimed, &request.csrs.kubelet)?,
        kube_proxy: wanted(Purpose::KubeProxy, &claimed, &request.csrs.kube_proxy)?,
        agent: wanted(Purpose::Agent, &claimed, &request.csrs.agent)?,
        node: claimed,
    })
}

/// A certificate request, if it asks for nothing but what the node may have.
pub(crate) fn wanted(purpose: Purpose, node: &str, pem: &str) -> Result<Request, Refusal> {
    purpose.request(node, pem).map_err(|why| Refusal::BadRequest { purpose, why })
}
