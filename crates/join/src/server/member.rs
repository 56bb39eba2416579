//! What nodes ask that are in the cluster already, and prove so with a certificate: `renew`, `report`, `nodes`.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{ConnectInfo, State},
    response::Response,
};
use spec::Node;
use tls::Peer;

use super::{
    Service, body,
    exchange::Exchange,
    join::{authority_pem, sign},
};
use crate::{
    Caller, Purpose, Refusal,
    admit::wanted,
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
    let csrs: RenewCsrs = body::json(body).await?;
    let kubelet = csrs.kubelet.map(|csr| wanted(Purpose::Kubelet, &node, &csr)).transpose()?;
    let kube_proxy = wanted(Purpose::KubeProxy, &node, &csrs.kube_proxy)?;
    let agent = wanted(Purpose::Agent, &node, &csrs.agent)?;
    Ok(RenewAnswer {
        ca: authority_pem(service)?,
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
    let status = body::json(body).await?;
    service.reports.certified(node, status, service.now());
    Ok(Heard { authority: service.setup.announced.borrow().clone() })
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
        exchange.claimed_by(&caller.node(&cluster, peer.ip())?);
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
    })
}

/// The node whose agent is calling.
pub(super) fn agent(service: &Service, peer: &Peer, exchange: &mut Exchange<'_>) -> Result<String, Refusal> {
    exchange.begin()?;
    let node = Caller::from_certificate(peer.certificate.as_deref())?.node(&service.cluster(), peer.ip())?;
    exchange.claimed_by(&node);
    Ok(node)
}
