//! Whether a node gets in, or is heard before it is in. Pure: everything the decision needs is passed in, and nothing is changed.
//!
//! Who does not prove to hold a secret learns only that; every other check comes behind the proof. A machine that is not
//! in cluster.yaml is refused here whatever `unlisted_nodes` says: that rule is for `kubeadm join`, which goes through the
//! API and not through this service.

use std::net::IpAddr;

use jiff::Timestamp;
use pki::Request;
use secrecy::{ExposeSecret, SecretSlice};
use spec::{Node, ValidatedCluster};

use crate::{
    NodeSecret, Purpose, Refusal, proof,
    server::StoredToken,
    wire::{CephRequest, ClaimedRole, EarlyReport, JoinRequest, MasterRequest},
};

/// What a credential is, as the master knows it.
#[derive(Debug)]
pub struct Key {
    pub(crate) secret: SecretSlice<u8>,
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
    let is_proved = |secret: &[u8]| proof::request_is_proved(secret, request);
    let node = claimant(&request.cluster, &request.node, is_proved, seen)?;
    let claimed = node.name.clone();
    check_role(node, request.role)?;
    check_address(node, seen.peer)?;
    check_machine(node, seen)?;
    Ok(Grant {
        kubelet: wanted(Purpose::Kubelet, &claimed, &request.csrs.kubelet)?,
        kube_proxy: wanted(Purpose::KubeProxy, &claimed, &request.csrs.kube_proxy)?,
        agent: wanted(Purpose::Agent, &claimed, &request.csrs.agent)?,
        node: claimed,
    })
}

/// The master that gets the cluster's keys, on a request whose challenge is good. A credential that more than one node may
/// use is not enough: it lies on workers' media, too.
pub(crate) fn admit_master(request: &MasterRequest, seen: &Circumstances<'_>) -> Result<String, Refusal> {
    let is_proved = |secret: &[u8]| proof::master_is_proved(secret, request);
    let node = claimant(&request.cluster, &request.node, is_proved, seen)?;
    check_role(node, ClaimedRole::Master)?;
    if seen.key.node.is_none() {
        return Err(Refusal::SharedCredential { node: node.name.clone() });
    }
    check_address(node, seen.peer)?;
    check_machine(node, seen)?;
    Ok(node.name.clone())
}

/// The node that gets its part of Ceph's keys, on a request whose challenge is good. As for the cluster's keys, a credential
/// that more than one node may use is not enough.
pub(crate) fn admit_ceph<'a>(request: &CephRequest, seen: &Circumstances<'a>) -> Result<&'a Node, Refusal> {
    let is_proved = |secret: &[u8]| proof::ceph_is_proved(secret, request);
    let node = claimant(&request.cluster, &request.node, is_proved, seen)?;
    if !node.has_ceph_role() {
        return Err(Refusal::NoCephRole { node: node.name.clone() });
    }
    if seen.key.node.is_none() {
        return Err(Refusal::SharedCredential { node: node.name.clone() });
    }
    check_address(node, seen.peer)?;
    check_machine(node, seen)?;
    Ok(node)
}

/// Whose report it is, of one whose challenge is good. It may only be about the node that the credential belongs to, and
/// nothing is granted by it.
pub(crate) fn reporter(report: &EarlyReport, seen: &Circumstances<'_>) -> Result<String, Refusal> {
    let is_proved = |secret: &[u8]| proof::report_is_proved(secret, report);
    let node = claimant(&report.cluster, &report.node, is_proved, seen)?;
    check_address(node, seen.peer)?;
    Ok(node.name.clone())
}

/// The node that a claim is made for, if whoever makes it holds the credential and it is good for that node.
fn claimant<'a>(
    wanted: &str,
    claimed: &str,
    is_proved: impl FnOnce(&[u8]) -> bool,
    seen: &Circumstances<'a>,
) -> Result<&'a Node, Refusal> {
    let Circumstances { cluster, key, now, .. } = *seen;
    if wanted != cluster.name() {
        return Err(Refusal::WrongCluster { own: cluster.name().to_owned(), wanted: wanted.to_owned() });
    }
    if !is_proved(key.secret.expose_secret()) {
        return Err(Refusal::WrongProof);
    }
    if let Some(when) = key.expires.filter(|when| *when <= now) {
        return Err(Refusal::Expired { when, now });
    }
    if let Some(bound) = key.node.clone().filter(|bound| bound != claimed) {
        return Err(Refusal::OtherNode { bound, claimed: claimed.to_owned() });
    }
    cluster.node(claimed).ok_or_else(|| Refusal::UnknownNode { node: claimed.to_owned() })
}

fn check_role(node: &Node, claimed: ClaimedRole) -> Result<(), Refusal> {
    let configured = ClaimedRole::of(node);
    if configured == claimed {
        return Ok(());
    }
    Err(Refusal::WrongRole { node: node.name.clone(), configured, claimed })
}

fn check_machine(node: &Node, seen: &Circumstances<'_>) -> Result<(), Refusal> {
    match seen.machine_owner.filter(|owner| *owner != node.name) {
        Some(owner) => Err(Refusal::DuplicateMachine { owner: owner.to_owned(), node: node.name.clone() }),
        None => Ok(()),
    }
}

fn check_address(node: &Node, peer: IpAddr) -> Result<(), Refusal> {
    if node.ip == peer {
        return Ok(());
    }
    Err(Refusal::WrongAddress { node: node.name.clone(), configured: node.ip, seen: peer })
}

/// A certificate request, if it asks for nothing but what the node may have.
pub(crate) fn wanted(purpose: Purpose, node: &str, pem: &str) -> Result<Request, Refusal> {
    purpose.request(node, pem).map_err(|why| Refusal::BadRequest { purpose, why })
}
