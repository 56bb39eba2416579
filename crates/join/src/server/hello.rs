//! `hello`: who is there, and a challenge.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, Query, State, rejection::QueryRejection},
    response::Response,
};
use tls::Peer;

use super::{Service, exchange::Exchange};
use crate::{
    Refusal,
    machine::is_machine_id,
    wire::{Hello, HelloQuery},
};

pub(super) async fn hello(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    query: Result<Query<HelloQuery>, QueryRejection>,
) -> Response {
    let exchange = Exchange::new(&service, &peer, "hello");
    let outcome = match exchange.begin() {
        Ok(()) => answer(&service, query).await,
        Err(refusal) => Err(refusal),
    };
    exchange.end(outcome)
}

async fn answer(service: &Service, query: Result<Query<HelloQuery>, QueryRejection>) -> Result<Hello, Refusal> {
    let malformed = || Refusal::Malformed { why: "its query is not that of a hello".to_owned() };
    let Query(HelloQuery { machine_id }) = query.map_err(|_| malformed())?;
    let machine = match machine_id {
        Some(id) if is_machine_id(&id) => service.machine_owner(&id, None).await,
        Some(_) => return Err(malformed()),
        None => None,
    };
    let now = service.now();
    let challenge = service.challenges.issue(now);
    Ok(Hello {
        cluster: service.cluster().name().to_owned(),
        master: service.setup.master.clone(),
        ready: *service.setup.api_ready.borrow(),
        challenge: challenge.map_err(|error| Refusal::Trouble { why: error.to_string() })?,
        machine,
        standing: service.setup.holdings.standing(),
        admits: service.setup.holdings.admits(),
        own_machine: service.setup.holdings.machine_id(),
        now,
    })
}
