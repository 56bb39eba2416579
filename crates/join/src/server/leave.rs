//! `leave`: a node that is being reset asks for its Node object to be removed.
//!
//! A node may not delete Nodes, not even its own: the API's rights cannot be narrowed to one object per agent. A master
//! does it for it, and only for the node whose agent shows its certificate; the request names nobody.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, State},
    response::Response,
};
use tls::Peer;
use tokio::time::timeout;

use super::{Answer, PATIENCE, Service, exchange::Exchange, member::agent};
use crate::Refusal;

/// Whoever removes nodes from the cluster.
pub trait Departures: Send + Sync {
    /// Removes the Node object; one that is not there is gone.
    fn remove<'a>(&'a self, node: &'a str) -> Answer<'a, ()>;
}

pub(super) async fn leave(State(service): State<Arc<Service>>, ConnectInfo(peer): ConnectInfo<Peer>) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "leave");
    let outcome = left(&service, &peer, &mut exchange).await;
    exchange.end(outcome)
}

async fn left(service: &Service, peer: &Peer, exchange: &mut Exchange<'_>) -> Result<(), Refusal> {
    let node = agent(service, peer, exchange)?;
    let removed = timeout(PATIENCE, service.setup.departures.remove(&node)).await;
    removed.unwrap_or(Err(super::NotReady)).map_err(|_| Refusal::NotReady)?;
    tracing::info!(node, "the node has left the cluster");
    Ok(())
}
