//! `early-report`: how a node is that is not in yet. It proves itself as it will when it joins, and gets nothing for it.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{ConnectInfo, State},
    response::Response,
};
use tls::Peer;

use super::{Service, claim::Claimed, exchange::Exchange, reports};
use crate::{Refusal, admit::reporter, wire::EarlyReport};

pub(super) async fn early_report(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    body: Body,
) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "early report");
    let outcome = answer(&service, &peer, body, &mut exchange).await;
    exchange.end(outcome)
}

async fn answer(service: &Service, peer: &Peer, body: Body, exchange: &mut Exchange<'_>) -> Result<(), Refusal> {
    let claimed = Claimed::<EarlyReport>::read(service, peer, body, exchange).await?;
    let node = reporter(&claimed.request, &claimed.seen())?;
    let status = reports::read(claimed.request.status.as_bytes())?;
    service.reports.early(node, &claimed.challenge, status, claimed.now)
}
