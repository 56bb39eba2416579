//! `early-report`: how a node is that is not in yet. It proves itself as it will when it joins, and gets nothing for it.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{ConnectInfo, State},
    response::Response,
};
use tls::Peer;

use super::{
    Service, body,
    claim::{check_names, key},
    exchange::Exchange,
};
use crate::{Circumstances, Refusal, admit::reporter, wire::EarlyReport};

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
    exchange.begin()?;
    let report: EarlyReport = body::json(body).await?;
    check_names(&report.cluster, &report.node, &report.credential)?;
    exchange.claimed_by(&report.node);

    let now = service.now();
    let challenge = service.challenges.check(&report.challenge, now)?;
    let key = key(service, &report.credential).await?;
    let cluster = service.cluster();
    let seen = Circumstances { cluster: &cluster, peer: peer.ip(), key: &key, machine_owner: None, now };
    let node = reporter(&report, &seen)?;
    let status = serde_json::from_str(&report.status)
        .map_err(|_| Refusal::Malformed { why: "what it reports is not JSON".to_owned() })?;
    service.reports.early(node, &challenge, status, now)
}
