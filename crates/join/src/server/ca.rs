//! `ca`: the CA, for a node that knows nothing but a token. It proves to the node that we know the token too.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, Query, State, rejection::QueryRejection},
    response::Response,
};
use secrecy::ExposeSecret;
use tls::Peer;
use tokio::time::timeout;

use super::{DEADLINE, NotReady, Service, StoredToken, exchange::Exchange};
use crate::{
    Refusal, proof,
    token::is_id,
    wire::{CaAnswer, CaQuery},
};

const NONCE: std::ops::RangeInclusive<usize> = 16..=128;

pub(super) async fn ca(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    query: Result<Query<CaQuery>, QueryRejection>,
) -> Response {
    let exchange = Exchange::new(&service, &peer, "ca");
    let outcome = match exchange.begin() {
        Ok(()) => answer(&service, query).await,
        Err(refusal) => Err(refusal),
    };
    exchange.end(outcome)
}

async fn answer(service: &Service, query: Result<Query<CaQuery>, QueryRejection>) -> Result<CaAnswer, Refusal> {
    let malformed = || Refusal::Malformed { why: "its query is not a token's id and a nonce".to_owned() };
    let Query(CaQuery { token: id, nonce }) = query.map_err(|_| malformed())?;
    if !NONCE.contains(&nonce.len()) {
        return Err(malformed());
    }
    let token = stored_token(service, &id).await?;
    let now = service.now();
    if let Some(when) = token.expires.filter(|when| *when <= now) {
        return Err(Refusal::Expired { when, now });
    }
    let ca = service.setup.signer.ca().map_err(|error| Refusal::Failure { why: explain::chain(&error) })?;
    let proof = proof::of_ca(token.secret.expose_secret().as_bytes(), &nonce, &ca);
    Ok(CaAnswer { ca, proof })
}

/// The token of that id, as the cluster knows it.
pub(super) async fn stored_token(service: &Service, id: &str) -> Result<StoredToken, Refusal> {
    if !is_id(id) {
        return Err(Refusal::Malformed { why: "what it names is no token's id".to_owned() });
    }
    match timeout(DEADLINE, service.setup.credentials.token(id)).await {
        Ok(Ok(Some(token))) => Ok(token),
        Ok(Ok(None)) => Err(Refusal::UnknownToken { id: id.to_owned() }),
        Ok(Err(NotReady)) | Err(_) => Err(Refusal::NotReady),
    }
}
