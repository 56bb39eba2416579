//! `master`: the cluster's keys, for a master that proves itself with a secret of its own. They go to one machine per arming.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{ConnectInfo, State},
    response::Response,
};
use secrecy::ExposeSecret;
use tls::Peer;

use super::{Service, claim::Claimed, exchange::Exchange, join::remember_machine};
use crate::{
    Admission, Generation, Given, Refusal,
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
    let claimed = Claimed::<MasterRequest>::read(service, peer, body, exchange).await?;
    let node = admit_master(&claimed.request, &claimed.seen())?;
    exchange.charge()?;
    let Claimed { request, challenge, key, now, _share, .. } = claimed;
    service.challenges.spend(challenge, now)?;
    let to = Given { when: Generation::at(now).0, claim: request.claim.clone(), machine: request.machine_id.clone() };
    let evaluate = |admission: Admission| {
        let admission = match key.generation {
            Some(generation) => {
                admission.check(&node, generation)?;
                admission.let_in(generation)
            }
            None => admission,
        };
        admission.give(&node, to.clone())
    };
    service.setup.records.decide(&node, Box::new(evaluate)).await?;
    let failure = |why: String| Refusal::Failure { why };
    let keys = service.setup.key_store.keys_for(&node, request.machine_id.as_deref()).await.map_err(failure)?;
    let envelope = keys.close(key.secret.expose_secret(), &request).map_err(|error| failure(error.to_string()))?;
    remember_machine(service, &node, request.machine_id);
    tracing::info!(peer = %peer.address, node, "a master was given the cluster's keys");
    Ok(MasterAnswer { envelope })
}
