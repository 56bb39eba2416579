//! `hello`: who is there, and a challenge. Which node has a machine is shown to the cluster's nodes; which machine this master
//! is, and how it stands to the cluster, to masters and administrators only.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, Query, State, rejection::QueryRejection},
    response::Response,
};
use tls::Peer;

use super::{Service, exchange::Exchange};
use crate::{
    Caller, Refusal,
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
        Ok(()) => answer(&service, &peer, query).await,
        Err(refusal) => Err(refusal),
    };
    exchange.end(outcome)
}

async fn answer(
    service: &Service,
    peer: &Peer,
    query: Result<Query<HelloQuery>, QueryRejection>,
) -> Result<Hello, Refusal> {
    let malformed = || Refusal::Malformed { why: "its query is not that of a hello".to_owned() };
    let Query(HelloQuery { machine_id }) = query.map_err(|_| malformed())?;
    let (caller, cluster) = (Caller::from_certificate(peer.certificate.as_deref()), service.cluster());
    let is_known = caller.as_ref().is_ok_and(|caller| caller.is_of(&cluster, peer.ip()));
    let is_insider = caller.is_ok_and(|caller| caller.is_insider(&cluster, peer.ip()));
    let machine = match machine_id {
        Some(id) if is_machine_id(&id) && is_known => service.machine_owner(&id, None).await,
        Some(id) if is_machine_id(&id) => None,
        Some(_) => return Err(malformed()),
        None => None,
    };
    let now = service.now();
    let challenge = service.challenges.issue(now);
    Ok(Hello {
        cluster: cluster.name().to_owned(),
        master: service.setup.master.clone(),
        ready: *service.setup.api_ready.borrow(),
        challenge: challenge.map_err(|error| Refusal::Failure { why: error.to_string() })?,
        machine,
        cluster_state: is_insider.then(|| service.setup.key_store.cluster_state()),
        admits: service.setup.key_store.admits(),
        own_machine: service.setup.key_store.machine_id().filter(|_| is_insider),
        now,
    })
}
