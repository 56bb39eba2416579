//! `rotation-key`: what opens the new keys of a rotation, for the agent of another master.
//!
//! New keys lie in the API under two locks. One is the key that encrypts Secrets, which is in a copy of a master,
//! too. This is the other: it was made for this rotation, and is given only to masters that call from their own address.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, State},
    response::Response,
};
use spec::Role;
use tls::Peer;

use super::{Service, exchange::Exchange, member::agent};
use crate::{Refusal, wire::RotationKey};

pub(super) async fn rotation_key(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "rotation-key");
    let outcome = answer(&service, &peer, &mut exchange);
    exchange.end(outcome)
}

fn answer(service: &Service, peer: &Peer, exchange: &mut Exchange<'_>) -> Result<RotationKey, Refusal> {
    let node = agent(service, peer, exchange)?;
    if service.cluster().node(&node).is_none_or(|node| !node.roles.contains(&Role::Master)) {
        return Err(Refusal::NotAllowed { why: "only the agent of a master may do this".to_owned() });
    }
    let key = service.setup.key_store.rotation_key();
    if key.is_some() {
        tracing::info!(peer = %peer.address, node, "a master was given what opens the new keys of a rotation");
    }
    Ok(RotationKey { key })
}
