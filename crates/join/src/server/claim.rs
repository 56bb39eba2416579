//! What joining, asking for keys and reporting have in common: somebody claims to be a node, with a credential.
//!
//! ```text
//! throttle ─► body ─► names ─► challenge ─► credential ─► Claimed ─► a decision of `admit` ─► …
//! ```
//! To add a request of this kind: its type with a [`Claim`] here, and what is decided on it in a file of its own.

use std::{net::IpAddr, sync::Arc};

use axum::body::Body;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use spec::ValidatedCluster;
use tls::Peer;

use super::{Service, authority::stored_token, body, challenge::Good, exchange::Exchange};
use crate::{
    Circumstances, Refusal,
    admit::Key,
    machine::is_machine_id,
    secret::moment,
    wire::{CephRequest, ClaimedCredential, EarlyReport, JoinRequest, MasterRequest},
};

/// As long as a DNS name can be.
const LONGEST_NAME: usize = 253;

/// What a claim says, as far as all claims say the same.
pub(super) struct Said<'a> {
    cluster: &'a str,
    node: &'a str,
    credential: &'a ClaimedCredential,
    challenge: &'a str,
    machine_id: Option<&'a str>,
}

/// A request in which somebody says who it is.
pub(super) trait Claim: DeserializeOwned {
    fn said(&self) -> Said<'_>;
}

impl Claim for JoinRequest {
    fn said(&self) -> Said<'_> {
        let Self { cluster, node, credential, challenge, machine_id, .. } = self;
        Said { cluster, node, credential, challenge, machine_id: machine_id.as_deref() }
    }
}

impl Claim for MasterRequest {
    fn said(&self) -> Said<'_> {
        let Self { cluster, node, credential, challenge, machine_id, proof: _ } = self;
        Said { cluster, node, credential, challenge, machine_id: machine_id.as_deref() }
    }
}

impl Claim for CephRequest {
    fn said(&self) -> Said<'_> {
        let Self { cluster, node, credential, challenge, machine_id, is_founded: _, proof: _ } = self;
        Said { cluster, node, credential, challenge, machine_id: machine_id.as_deref() }
    }
}

impl Claim for EarlyReport {
    fn said(&self) -> Said<'_> {
        let Self { cluster, node, credential, challenge, status: _, proof: _ } = self;
        Said { cluster, node, credential, challenge, machine_id: None }
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
}

impl<C: Claim> Claimed<C> {
    pub(super) async fn read(
        service: &Service,
        peer: &Peer,
        body: Body,
        exchange: &mut Exchange<'_>,
    ) -> Result<Self, Refusal> {
        exchange.begin()?;
        let request: C = body::json(body).await?;
        let said = request.said();
        check_form(&said)?;
        exchange.claimed_by(said.node);

        let now = service.now();
        let challenge = service.challenges.check(said.challenge, now)?;
        let key = key(service, said.credential).await?;
        let machine_owner = match said.machine_id {
            Some(id) => service.machine_owner(id, Some(said.node)).await,
            None => None,
        };
        Ok(Self { challenge, key, cluster: service.cluster(), now, peer: peer.ip(), machine_owner, request })
    }

    /// What is known beside the request.
    pub(super) fn seen(&self) -> Circumstances<'_> {
        let Self { cluster, peer, key, machine_owner, now, .. } = self;
        Circumstances { cluster, peer: *peer, key, machine_owner: machine_owner.as_deref(), now: *now }
    }
}

/// Names go into the log and into answers, so nothing else than names gets any further.
fn check_form(said: &Said<'_>) -> Result<(), Refusal> {
    let of_credential = match said.credential {
        ClaimedCredential::NodeSecret { node, .. } => is_name(node),
        ClaimedCredential::Token { .. } => true,
    };
    if !(is_name(said.cluster) && is_name(said.node) && of_credential) {
        return Err(Refusal::Malformed { why: "a name in it is none".to_owned() });
    }
    if !said.machine_id.is_none_or(is_machine_id) {
        return Err(Refusal::Malformed { why: "its machine id is none".to_owned() });
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(fits)
}

/// The credential as this master knows it.
async fn key(service: &Service, credential: &ClaimedCredential) -> Result<Key, Refusal> {
    match credential {
        ClaimedCredential::NodeSecret { node, expires } => {
            let join_key = service.setup.holdings.join_key().ok_or(Refusal::NoJoinKey)?;
            Ok(join_key.node_secret(node, moment(*expires)).into())
        }
        ClaimedCredential::Token { id } => Ok(stored_token(service, id).await?.into()),
    }
}
