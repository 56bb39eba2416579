//! `hold`: the agent of a master asks that this one writes nothing to etcd for a moment.
//!
//! While etcd's leader changes, it drops what the other members pass on to it, and the writer hears
//! seven seconds later that it has failed. Where the change is planned, every master holds its writes back until it is
//! over: they are late by a blink, and none fails.

use std::{pin::Pin, sync::Arc};

use axum::{
    body::Body,
    extract::{ConnectInfo, State},
    response::Response,
};
use tls::Peer;

use super::{
    Service, body,
    exchange::Exchange,
    member::{agent, check_is_master},
};
use crate::{Refusal, wire::Hold};

/// Done, or why not.
pub type Done<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Stands between this master's API server and etcd.
pub trait Writes: Send + Sync {
    /// Holds them back, and is done when those before have been answered. By itself that ends after two seconds,
    /// whatever becomes of the asking master.
    fn hold(&self) -> Done<'_>;

    /// Lets them go on.
    fn release(&self) -> Done<'_>;
}

pub(super) async fn hold(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    body: Body,
) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "hold");
    let outcome = answer(&service, &peer, body, &mut exchange).await;
    exchange.end(outcome)
}

async fn answer(service: &Service, peer: &Peer, body: Body, exchange: &mut Exchange<'_>) -> Result<(), Refusal> {
    let node = agent(service, peer, exchange)?;
    check_is_master(&service.cluster(), &node)?;
    let Hold { hold } = body::json(body, &mut exchange.share()).await?;
    let writes = &service.setup.writes;
    let done = if hold { writes.hold().await } else { writes.release().await };
    done.map_err(|why| Refusal::Failure { why })
}
