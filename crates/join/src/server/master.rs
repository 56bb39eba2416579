//! `master`: the cluster's keys, for a master that proves itself with a secret of its own.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{ConnectInfo, State},
    response::Response,
};
use secrecy::ExposeSecret;
use tls::Peer;

use super::{
    Service, body,
    claim::{check_names, key},
    exchange::Exchange,
    join::{check_machine_id, remember_machine},
};
use crate::{
    Circumstances, Refusal,
    admit::admit_master,
    wire::{MasterAnswer, MasterRequest},
};

pub(super) async fn master(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    body: Body,
) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "master");
    let outcome = answer(&service, &peer, body, &mut exchange).await;
    exchange.end(outcome)
}

async fn answer(
    service: &Service,
    peer: &Peer,
    body: Body,
    exchange: &mut Exchange<'_>,
) -> Result<MasterAnswer, Refusal> {
    exchange.begin()?;
    let request: MasterRequest = body::json(body).await?;
    check_names(&request.cluster, &request.node, &request.credential)?;
    check_machine_id(request.machine_id.as_deref())?;
    exchange.claimed_by(&request.node);

    let now = service.now();
    let challenge = service.challenges.check(&request.challenge, now)?;
    let key = key(service, &request.credential).await?;
    let machine_owner = match &request.machine_id {
        Some(id) => service.machine_owner(id, Some(&request.node)).await,
        None => None,
    };
    let cluster = service.cluster();
    let seen =
        Circumstances { cluster: &cluster, peer: peer.ip(), key: &key, machine_owner: machine_owner.as_deref(), now };
    let node = admit_master(&request, &seen)?;
    service.challenges.spend(challenge, now)?;
    let trouble = |why: String| Refusal::Trouble { why };
    let keys = service.setup.holdings.keys_for(&node, request.machine_id.as_deref()).await.map_err(trouble)?;
    let envelope = keys.close(key.secret.expose_secret(), &request).map_err(|error| trouble(error.to_string()))?;
    remember_machine(service, &node, request.machine_id.clone());
    tracing::info!(peer = %peer.address, node, "a master was given the cluster's keys");
    Ok(MasterAnswer { envelope })
}
