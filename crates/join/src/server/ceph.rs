//! `ceph`: what a node's roles need of Ceph's keys, for a node that proves itself with a secret of its own.

use std::{pin::Pin, sync::Arc};

use axum::{
    body::Body,
    extract::{ConnectInfo, State},
    response::Response,
};
use ceph::Identity;
use secrecy::ExposeSecret;
use spec::{Role, ValidatedCluster};
use tls::Peer;
use tokio::time::timeout;

use super::{DEADLINE, Service, admissions::let_in, claim::Claimed, exchange::Exchange};
use crate::{
    Refusal,
    admit::admit_ceph,
    ceph_keys,
    wire::{CephAnswer, CephRequest},
};

/// Ceph's identity, or why it is unknown now.
pub type Identified<'a> = Pin<Box<dyn Future<Output = Result<Identity, String>> + Send + 'a>>;

/// Keeps Ceph's identity.
pub trait CephKeys: Send + Sync {
    /// The identity of this cluster's Ceph; made now if there is none. `is_initialized` notes that there has been a quorum.
    fn identity<'a>(&'a self, cluster: &'a ValidatedCluster, is_initialized: bool) -> Identified<'a>;
}

pub(super) async fn ceph(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    body: Body,
) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "ceph");
    let outcome = answer(&service, &peer, body, &mut exchange).await;
    exchange.end(outcome)
}

async fn answer(
    service: &Service,
    peer: &Peer,
    body: Body,
    exchange: &mut Exchange<'_>,
) -> Result<CephAnswer, Refusal> {
    let claimed = Claimed::<CephRequest>::read(service, peer, body, exchange).await?;
    let node = admit_ceph(&claimed.request, &claimed.seen())?.clone();
    exchange.charge()?;
    let Claimed { request, challenge, key, cluster, now, _share, .. } = claimed;
    service.challenges.spend(challenge, now)?;
    let_in(service, &node.name, key.generation).await?;
    let failure = |why: String| Refusal::Failure { why };
    // Only a monitor can have seen it.
    let is_initialized = request.is_initialized && node.has(Role::CephMon);
    let identity = match timeout(DEADLINE, service.setup.ceph.identity(&cluster, is_initialized)).await {
        Ok(identity) => identity.map_err(failure)?,
        Err(_) => return Err(Refusal::NotReady),
    };
    let Some(handed) = identity.for_node(&node) else { return Err(Refusal::NoCephRole { node: node.name }) };
    let closed = ceph_keys::close(&handed, key.secret.expose_secret(), &request);
    let envelope = closed.map_err(|error| failure(error.to_string()))?;
    tracing::info!(peer = %peer.address, node = node.name, "a node was given its keys of Ceph");
    Ok(CephAnswer { envelope })
}
