//! What joining, asking for keys and reporting have in common: a client claims to be a node, with a credential.
//!
//! ```text
//! throttle ─► body ─► names ─► challenge ─► credential ─► Claimed ─► a decision of `admit` ─► …
//! ```
//! To add a request of this kind: its type with a [`Claim`] here, and what is decided on it in a file of its own.

use std::{net::IpAddr, sync::Arc};

use axum::body::Body;
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde::de::DeserializeOwned;
use spec::ValidatedCluster;
use tls::Peer;

use super::{Service, body, budget::Share, ca::stored_token, challenge::Good, exchange::Exchange};
use crate::{
    Admission, Bearer, Circumstances, Living, NodeSecret, Refusal,
    admit::Key,
    claim::is_hash,
    machine::is_machine_id,
    proof,
    secret::moment,
    wire::{CephRequest, ClaimedCredential, EarlyReport, JoinRequest, MasterRequest},
};

/// As long as a DNS name can be.
const LONGEST_NAME: usize = 253;

/// What a claim says, as far as all claims say the same.
pub(super) struct Statement<'a> {
    cluster: &'a str,
    node: &'a str,
    credential: &'a ClaimedCredential,
    challenge: &'a str,
    machine_id: Option<&'a str>,
    /// Of a request for the cluster's keys.
    hash: Option<&'a str>,
    /// Whether the machine is to be the node, or only says how it is.
    is_to_be: bool,
}

/// A request in which a client says who it is.
pub(super) trait Claim: DeserializeOwned {
    fn statement(&self) -> Statement<'_>;

    /// True if its proof was made with this secret.
    fn is_proved(&self, secret: &[u8]) -> bool;
}

impl Claim for JoinRequest {
    fn statement(&self) -> Statement<'_> {
        let Self { cluster, node, credential, challenge, machine_id, .. } = self;
        Statement {
            cluster,
            node,
            credential,
            challenge,
            machine_id: machine_id.as_deref(),
            hash: None,
            is_to_be: true,
        }
    }

    fn is_proved(&self, secret: &[u8]) -> bool {
        proof::request_is_proved(secret, self)
    }
}

impl Claim for MasterRequest {
    fn statement(&self) -> Statement<'_> {
        let Self { cluster, node, credential, challenge, machine_id, claim, proof: _ } = self;
        let machine_id = machine_id.as_deref();
        Statement { cluster, node, credential, challenge, machine_id, hash: Some(claim), is_to_be: true }
    }

    fn is_proved(&self, secret: &[u8]) -> bool {
        proof::master_is_proved(secret, self)
    }
}

impl Claim for CephRequest {
    fn statement(&self) -> Statement<'_> {
        let Self { cluster, node, credential, challenge, machine_id, is_initialized: _, proof: _ } = self;
        Statement {
            cluster,
            node,
            credential,
            challenge,
            machine_id: machine_id.as_deref(),
            hash: None,
            is_to_be: true,
        }
    }

    fn is_proved(&self, secret: &[u8]) -> bool {
        proof::ceph_is_proved(secret, self)
    }
}

impl Claim for EarlyReport {
    fn statement(&self) -> Statement<'_> {
        let Self { cluster, node, credential, challenge, status: _, proof: _ } = self;
        Statement { cluster, node, credential, challenge, machine_id: None, hash: None, is_to_be: false }
    }

    fn is_proved(&self, secret: &[u8]) -> bool {
        proof::report_is_proved(secret, self)
    }
}

/// A claim of good form with a good challenge, and all that a decision on it needs. Nothing is proved yet.
pub(super) struct Claimed<C> {
    pub(super) request: C,
    /// Not spent yet.
    pub(super) challenge: Good,
    pub(super) key: Key,
    pub(super) cluster: Arc<ValidatedCluster>,
    pub(super) now: Timestamp,
    peer: IpAddr,
    machine_owner: Option<String>,
    living: Option<Living>,
    admission: Admission,
    bearer: Bearer,
    /// Of the memory for requests, as long as this one is worked on.
    pub(super) _share: Share,
}

impl<C: Claim> Claimed<C> {
    pub(super) async fn read(
        service: &Service,
        peer: &Peer,
        body: Body,
        exchange: &mut Exchange<'_>,
    ) -> Result<Self, Refusal> {
        exchange.begin()?;
        let mut share = exchange.share();
        let request: C = body::json(body, &mut share).await?;
        let statement = request.statement();
        check_form(&statement)?;
        exchange.claimed_by(statement.node);

        let now = service.now();
        let challenge = service.challenges.check(statement.challenge, now)?;
        let key = key(service, &request).await?;
        let machine_owner = match statement.machine_id {
            Some(id) => service.machine_owner(id, Some(statement.node)).await,
            None => None,
        };
        let admission = service.setup.records.known(statement.node);
        // A client that has proved nothing does not make this master ask the API.
        let is_proved = request.is_proved(key.secret.expose_secret());
        let living = if is_proved && statement.is_to_be { service.living(statement.node).await } else { None };
        let bearer = if is_proved && key.is_shared() { service.bearer(statement.node).await } else { Bearer::Unknown };
        let (cluster, peer) = (service.cluster(), peer.ip());
        Ok(Self {
            challenge,
            key,
            cluster,
            now,
            peer,
            machine_owner,
            living,
            admission,
            bearer,
            request,
            _share: share,
        })
    }

    /// What is known beside the request.
    pub(super) fn seen(&self) -> Circumstances<'_> {
        let Self { cluster, peer, key, machine_owner, living, admission, bearer, now, .. } = self;
        let (machine_owner, living) = (machine_owner.as_deref(), living.as_ref());
        Circumstances { cluster, peer: *peer, key, machine_owner, living, admission, bearer, now: *now }
    }
}

/// Names go into the log and into answers, so nothing else than names gets any further.
fn check_form(statement: &Statement<'_>) -> Result<(), Refusal> {
    let of_credential = match statement.credential {
        ClaimedCredential::NodeSecret { node, .. } => is_name(node),
        ClaimedCredential::Token { .. } => true,
    };
    if !(is_name(statement.cluster) && is_name(statement.node) && of_credential) {
        return Err(Refusal::Malformed { why: "a name in it is none".to_owned() });
    }
    if !statement.machine_id.is_none_or(is_machine_id) {
        return Err(Refusal::Malformed { why: "its machine id is none".to_owned() });
    }
    if !statement.hash.is_none_or(is_hash) {
        return Err(Refusal::Malformed { why: "its claim is none".to_owned() });
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(fits)
}

/// The credential as this master knows it. While the join key is replaced a secret may be of either: it is the one that
/// the proof was made with, or, if it was made with none, any of them, for the decision to refuse.
async fn key(service: &Service, request: &impl Claim) -> Result<Key, Refusal> {
    match request.statement().credential {
        ClaimedCredential::NodeSecret { node, generation, expires } => {
            let keys = service.setup.key_store.join_keys();
            let mut secrets = keys.iter().map(|key| key.node_secret(node, *generation, moment(*expires)));
            let first = secrets.next().ok_or(Refusal::NoJoinKey)?;
            let is_proved = |secret: &NodeSecret| request.is_proved(secret.bytes().expose_secret());
            if is_proved(&first) {
                return Ok(first.into());
            }
            Ok(secrets.find(is_proved).unwrap_or(first).into())
        }
        ClaimedCredential::Token { id } => Ok(stored_token(service, id).await?.into()),
    }
}
