//! What nodes ask that are in the cluster already, and prove so with a certificate: `renew`, `report`, `nodes`.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{ConnectInfo, State},
    response::Response,
};
use spec::{Node, ValidatedCluster};
use tls::Peer;

use super::{
    Service, body,
    exchange::Exchange,
    join::{ca_pem, sign},
    reports,
};
use crate::{
    Caller, Purpose, Refusal,
    admit::wanted,
    new_secret,
    secret::moment,
    wire::{ClaimedRole, Heard, KnownNode, Nodes, RenewAnswer, RenewCsrs},
};

pub(super) async fn renew(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    body: Body,
) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "renew");
    let outcome = renewed(&service, &peer, body, &mut exchange).await;
    exchange.end(outcome)
}

async fn renewed(
    service: &Service,
    peer: &Peer,
    body: Body,
    exchange: &mut Exchange<'_>,
) -> Result<RenewAnswer, Refusal> {
    let node = agent(service, peer, exchange)?;
    let mut share = exchange.share();
    let csrs: RenewCsrs = body::json(body, &mut share).await?;
    exchange.charge()?;
    let kubelet = csrs.kubelet.map(|csr| wanted(Purpose::Kubelet, &node, &csr)).transpose()?;
    let kube_proxy = wanted(Purpose::KubeProxy, &node, &csrs.kube_proxy)?;
    let agent = wanted(Purpose::Agent, &node, &csrs.agent)?;
    let join_keys = service.setup.key_store.join_keys();
    let minimum = service.setup.records.known(&node).minimum;
    let next = |held| new_secret::close(&join_keys, &node, &held, &csrs.agent, minimum, service.now());
    let secret = csrs.secret.map(next).transpose();
    let secret = secret.map_err(|error| Refusal::Failure { why: error.to_string() })?.flatten();
    Ok(RenewAnswer {
        secret,
        ca: ca_pem(service)?,
        kubelet: kubelet.map(|request| sign(service, Purpose::Kubelet, &node, &request)).transpose()?,
        kube_proxy: sign(service, Purpose::KubeProxy, &node, &kube_proxy)?,
        agent: sign(service, Purpose::Agent, &node, &agent)?,
    })
}

pub(super) async fn report(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    body: Body,
) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "report");
    let outcome = reported(&service, &peer, body, &mut exchange).await;
    exchange.end(outcome)
}

async fn reported(service: &Service, peer: &Peer, body: Body, exchange: &mut Exchange<'_>) -> Result<Heard, Refusal> {
    let node = agent(service, peer, exchange)?;
    let mut share = exchange.share();
    let status = reports::read(&body::text(body, &mut share).await?)?;
    service.reports.certified(node, status, service.now());
    Ok(service.setup.announced.borrow().clone())
}

pub(super) async fn nodes(State(service): State<Arc<Service>>, ConnectInfo(peer): ConnectInfo<Peer>) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "nodes");
    let outcome = listed(&service, &peer, &mut exchange);
    exchange.end(outcome)
}

fn listed(service: &Service, peer: &Peer, exchange: &mut Exchange<'_>) -> Result<Nodes, Refusal> {
    exchange.begin()?;
    let caller = Caller::from_certificate(peer.certificate.as_deref())?;
    let cluster = service.cluster();
    if caller != Caller::Admin {
        let node = caller.node(&cluster, peer.ip())?;
        exchange.claimed_by(&node);
        check_is_master(&cluster, &node)?;
    }
    let known = |node: &Node| KnownNode {
        node: node.name.clone(),
        role: ClaimedRole::of(node),
        report: service.reports.of(&node.name),
    };
    Ok(Nodes {
        cluster: cluster.name().to_owned(),
        master: service.setup.master.clone(),
        now: service.now(),
        listening_since: service.listening_since,
        nodes: cluster.nodes().iter().map(known).collect(),
        bootstrap: cluster.bootstrap_node().map(known),
    })
}

/// Refuses what only the agents of masters may do.
pub(super) fn check_is_master(cluster: &ValidatedCluster, node: &str) -> Result<(), Refusal> {
    match cluster.machine(node) {
        Some(node) if node.runs_control_plane() => Ok(()),
        _ => Err(Refusal::NotAllowed { why: "only the agent of a master may do this".to_owned() }),
    }
}

/// The node whose agent is calling.
pub(super) fn agent(service: &Service, peer: &Peer, exchange: &mut Exchange<'_>) -> Result<String, Refusal> {
    exchange.begin()?;
    let node = Caller::from_certificate(peer.certificate.as_deref())?.node(&service.cluster(), peer.ip())?;
    exchange.claimed_by(&node);
    let revoked = moment(service.setup.records.known(&node).certified_from);
    let issued = peer.certificate.as_deref().and_then(Caller::issued);
    match revoked.filter(|revoked| issued.is_none_or(|issued| issued < *revoked)) {
        Some(since) => Err(Refusal::Revoked { node, since }),
        None => Ok(node),
    }
}
