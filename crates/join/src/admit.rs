//! Whether a node gets in, or is heard before it is in. Pure: everything the decision needs is passed in, and nothing is changed.
//!
//! Who does not prove to hold a secret learns only that; every other check comes behind the proof. A node that is alive is
//! not given to another: that machine waits until it is seen to be gone. A machine that is not
//! in cluster.yaml is refused here whatever `unlisted_nodes` says: that rule is for `kubeadm join`, which goes through the
//! API and not through this service.

use std::net::IpAddr;

use jiff::Timestamp;
use pki::Request;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use spec::{Node, ValidatedCluster};

use crate::{
    Admission, Generation, Living, NodeSecret, Purpose, Refusal, proof,
    wire::{CephRequest, ClaimedRole, EarlyReport, JoinRequest, MasterRequest},
};

/// What a credential is, as the master knows it.
#[derive(Debug)]
pub struct Key {
    pub(crate) secret: SecretSlice<u8>,
    /// Of a node's own secret.
    pub(crate) generation: Option<Generation>,
    expires: Option<Timestamp>,
    node: Option<String>,
}

/// A bootstrap token as the cluster knows it.
#[derive(Debug, Clone)]
pub struct StoredToken {
    /// The part behind the dot.
    pub secret: SecretString,
    /// When it ends; `None` for never.
    pub expires: Option<Timestamp>,
    /// The only node that may use it; `None` for any.
    pub node: Option<String>,
}

impl From<NodeSecret> for Key {
    fn from(secret: NodeSecret) -> Self {
        let NodeSecret { generation, expires, .. } = secret;
        Self { secret: secret.bytes().clone(), generation: Some(generation), expires, node: Some(secret.node) }
    }
}

impl From<StoredToken> for Key {
    fn from(token: StoredToken) -> Self {
        let secret = token.secret.expose_secret().as_bytes().to_vec().into();
        Self { secret, generation: None, expires: token.expires, node: token.node }
    }
}

impl Key {
    /// Whether any node may use it.
    pub(crate) fn is_shared(&self) -> bool {
        self.node.is_none()
    }
}

/// Who bears the name that a credential for anybody is used for. Such a credential brings in who is not there yet; it is no
/// way to the name of one that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bearer {
    /// No machine does.
    None,
    /// The API, which would know, cannot be asked.
    Unknown,
    /// There is a Node object of that name.
    Registered,
    /// A machine was let in a moment ago, or reports with its certificate, and has no Node object yet: the one of this id
    /// (see [`crate::machine_id`]), if it has sent one.
    Machine(Option<String>),
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
    /// Who bears the name already; only looked at where the credential is anybody's.
    pub bearer: &'a Bearer,
    /// The machine that is the claimed node and is alive.
    pub living: Option<&'a Living>,
    /// What is remembered of the claimed node.
    pub admission: &'a Admission,
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
    check_shared(node, request.machine_id.as_deref(), seen)?;
    check_machine(node, request.machine_id.as_deref(), seen)?;
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
    if seen.key.is_shared() {
        return Err(Refusal::SharedCredential { node: node.name.clone() });
    }
    check_address(node, seen.peer)?;
    check_machine(node, request.machine_id.as_deref(), seen)?;
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
    if seen.key.is_shared() {
        return Err(Refusal::SharedCredential { node: node.name.clone() });
    }
    check_address(node, seen.peer)?;
    check_machine(node, request.machine_id.as_deref(), seen)?;
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

/// The node that a claim is made for, if its maker holds the credential and it is good for that node.
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
    let node = cluster.node(claimed).ok_or_else(|| Refusal::UnknownNode { node: claimed.to_owned() })?;
    key.generation.map_or(Ok(()), |generation| seen.admission.check(claimed, generation))?;
    Ok(node)
}

fn check_role(node: &Node, claimed: ClaimedRole) -> Result<(), Refusal> {
    let configured = ClaimedRole::of(node);
    if configured == claimed {
        return Ok(());
    }
    Err(Refusal::WrongRole { node: node.name.clone(), configured, claimed })
}

/// What a credential for anybody is good for: a worker whose name no machine bears. The same machine may come again before it has
/// registered, because it may have lost the answer.
fn check_shared(node: &Node, machine_id: Option<&str>, seen: &Circumstances<'_>) -> Result<(), Refusal> {
    if !seen.key.is_shared() {
        return Ok(());
    }
    let name = || node.name.clone();
    if ClaimedRole::of(node) == ClaimedRole::Master {
        return Err(Refusal::SharedCredential { node: name() });
    }
    match seen.bearer {
        Bearer::None => Ok(()),
        Bearer::Unknown => Err(Refusal::NotReady),
        Bearer::Registered => Err(Refusal::NameTaken { node: name(), by: "it has a Node object" }),
        Bearer::Machine(Some(own)) if machine_id == Some(own) => Ok(()),
        Bearer::Machine(_) => Err(Refusal::NameTaken { node: name(), by: "another machine came in under it" }),
    }
}

/// One machine is one node, and a node that is alive is one machine.
fn check_machine(node: &Node, machine: Option<&str>, seen: &Circumstances<'_>) -> Result<(), Refusal> {
    if let Some(owner) = seen.machine_owner.filter(|owner| *owner != node.name) {
        return Err(Refusal::DuplicateMachine { owner: owner.to_owned(), node: node.name.clone() });
    }
    match seen.living.filter(|living| machine != Some(living.machine.as_str())) {
        Some(living) => {
            Err(Refusal::Alive { node: node.name.clone(), living: living.clone(), machine: machine.map(str::to_owned) })
        }
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

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::*;
    use crate::Sign;

    fn cluster() -> ValidatedCluster {
        let text = "cluster: {name: demo}\nnodes:\n\
            - {name: m, ip: 192.168.1.11, roles: [master], hardware: {mac_addresses: ['52:54:00:00:00:01']}}\n\
            - {name: w, ip: 192.168.1.21, roles: [worker], hardware: {mac_addresses: ['52:54:00:00:00:02']}}\n";
        spec::check_text(text).cluster.unwrap()
    }

    #[test]
    fn a_credential_for_anybody_brings_in_only_who_is_not_there() {
        let cluster = cluster();
        let machine = |id: &str| Bearer::Machine(Some(id.to_owned()));
        for (bound, node, bearer, machine_id, expected) in [
            (None, "w", Bearer::None, Some("a"), "fine"),
            (None, "w", Bearer::None, None, "fine"),
            (None, "w", machine("a"), Some("a"), "fine"),
            (None, "w", machine("a"), Some("b"), "BS-JOIN-043"),
            (None, "w", machine("a"), None, "BS-JOIN-043"),
            (None, "w", Bearer::Machine(None), None, "BS-JOIN-043"),
            (None, "w", Bearer::Registered, Some("a"), "BS-JOIN-043"),
            (None, "w", Bearer::Unknown, Some("a"), "BS-JOIN-012"),
            (None, "m", Bearer::None, Some("a"), "BS-JOIN-033"),
            (Some("w"), "w", Bearer::Registered, Some("b"), "fine"),
            (Some("m"), "m", Bearer::Registered, Some("b"), "fine"),
        ] {
            let key =
                Key { secret: Vec::new().into(), generation: None, expires: None, node: bound.map(str::to_owned) };
            let peer = IpAddr::from([192, 0, 2, 1]);
            let seen = Circumstances {
                cluster: &cluster,
                peer,
                key: &key,
                machine_owner: None,
                living: None,
                admission: &Admission::default(),
                bearer: &bearer,
                now: Timestamp::MIN,
            };
            let outcome = check_shared(cluster.node(node).unwrap(), machine_id, &seen);
            let code = outcome.map_or_else(|refusal| refusal.code().id, |()| "fine");
            assert_eq!(code, expected, "{bound:?} {node} {bearer:?} {machine_id:?}");
        }
    }

    const CLUSTER: &str = "cluster: {name: home}\nnodes:\n- {name: master-01, ip: 192.168.1.11, roles: [master], \
                           hardware: {mac_addresses: ['52:54:00:00:00:01']}}\n";

    #[test]
    fn the_name_of_a_node_that_is_alive_is_not_given_to_another() {
        let cluster = spec::check_text(CLUSTER).cluster.unwrap();
        let node = cluster.node("master-01").unwrap();
        let (own, other) = (crate::machine_id("own"), crate::machine_id("other"));
        let key = Key { secret: vec![].into(), generation: None, expires: None, node: None };
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let reported = Living { machine: own.clone(), sign: Sign::Reported(at("2026-11-17T12:00:00Z")) };
        let ready = Living { machine: own.clone(), sign: Sign::Ready(at("2026-11-16T08:00:00Z")) };
        for (what, living, owner, machine, expected) in [
            ("no machine is there", None, None, Some(&own), None),
            ("no machine is there, and it gives no machine-id", None, None, None, None),
            ("itself, after a reset", Some(&reported), None, Some(&own), None),
            ("itself, after a reset", Some(&ready), Some("master-01"), Some(&own), None),
            ("another machine", Some(&reported), None, Some(&other), Some("BS-JOIN-062")),
            ("another machine", Some(&ready), None, Some(&other), Some("BS-JOIN-062")),
            ("one that gives no machine-id", Some(&ready), None, None, Some("BS-JOIN-062")),
            ("a clone of another node", None, Some("worker-01"), Some(&own), Some("BS-JOIN-010")),
        ] {
            let seen = Circumstances {
                cluster: &cluster,
                peer: node.ip,
                key: &key,
                machine_owner: owner,
                living,
                admission: &Admission::default(),
                bearer: &Bearer::None,
                now: Timestamp::UNIX_EPOCH,
            };
            let refused = check_machine(node, machine.map(String::as_str), &seen).err();
            assert_eq!(refused.as_ref().map(|refusal| refusal.code().id), expected, "{what}");
            if let Some(refused @ Refusal::Alive { .. }) = refused {
                let text = refused.to_string();
                assert!(refused.is_retryable() && text.contains(&own[..12]), "{text}");
                assert!(machine.is_none_or(|machine| text.contains(&machine[..12])), "{text}");
            }
        }
        insta::assert_snapshot!(
            [(&ready, Some(&other)), (&reported, None)]
                .map(|(living, machine)| {
                    let machine = machine.cloned();
                    Refusal::Alive { node: "master-01".into(), living: living.clone(), machine }.to_string()
                })
                .join("\n")
        );
    }
}
