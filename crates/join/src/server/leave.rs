//! `leave`: a node that is being reset asks for its Node object to be removed.
//!
//! A node may not delete Nodes, not even its own: the API's rights cannot be narrowed to one object per agent. A master
//! does it for it, and only for the node whose agent shows its certificate; the request has no name.
//!
//! What others have set on the Node to keep pods away from it must outlast the machine: one that could have its Node removed
//! would come back without. So where such a thing was set, it stays.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, State},
    response::Response,
};
use tls::Peer;
use tokio::time::timeout;

use super::{Answer, DEADLINE, Service, exchange::Exchange, member::agent, outside::locked};
use crate::Refusal;

/// Removes nodes from the cluster.
pub trait Departures: Send + Sync {
    /// Removes the Node object, unless something was set on it; one that is not there is gone.
    fn remove<'a>(&'a self, node: &'a str) -> Answer<'a, Departure>;
}

/// What became of a Node object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Departure {
    /// It is gone.
    Gone,
    /// It stays, because of what others have set on it, each in a few words.
    Held(Vec<String>),
}

pub(super) async fn leave(State(service): State<Arc<Service>>, ConnectInfo(peer): ConnectInfo<Peer>) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "leave");
    let outcome = left(&service, &peer, &mut exchange).await;
    exchange.end(outcome)
}

async fn left(service: &Service, peer: &Peer, exchange: &mut Exchange<'_>) -> Result<(), Refusal> {
    let node = agent(service, peer, exchange)?;
    exchange.charge()?;
    let removed = timeout(DEADLINE, service.setup.departures.remove(&node)).await;
    match removed.unwrap_or(Err(super::NotReady)).map_err(|_| Refusal::NotReady)? {
        Departure::Gone => {}
        Departure::Held(by) => return Err(Refusal::Held { node, by }),
    }
    // The next one under this name may be another machine.
    locked(&service.joined).remove(&node);
    locked(&service.left).insert(node.clone(), service.now());
    service.reports.forget(&node);
    tracing::info!(node, "the node has left the cluster");
    Ok(())
}
