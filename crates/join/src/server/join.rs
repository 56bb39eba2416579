//! `join`: certificates for a node that proves itself.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    body::Body,
    extract::{ConnectInfo, State},
    response::Response,
};
use pki::Request;
use spec::ValidatedCluster;
use tls::Peer;

use super::{LetIn, Service, admissions::let_in, claim::Claimed, exchange::Exchange, outside::locked};
use crate::{
    Grant, Purpose, Refusal, admit,
    purpose::DAYS,
    wire::{JoinAnswer, JoinRequest},
};

pub(super) async fn join(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    body: Body,
) -> Response {
    let mut exchange = Exchange::new(&service, &peer, "join");
    let outcome = answer(&service, &peer, body, &mut exchange).await;
    exchange.end(outcome)
}

async fn answer(
    service: &Service,
    peer: &Peer,
    body: Body,
    exchange: &mut Exchange<'_>,
) -> Result<JoinAnswer, Refusal> {
    let claimed = Claimed::<JoinRequest>::read(service, peer, body, exchange).await?;
    let grant = admit(&claimed.request, &claimed.seen())?;
    exchange.charge()?;
    service.challenges.spend(claimed.challenge, claimed.now)?;
    let_in(service, &grant.node, claimed.key.generation).await?;
    let answer = signed(service, &grant, &claimed.cluster)?;
    remember_machine(service, &grant.node, claimed.request.machine_id);
    tracing::info!(peer = %peer.address, node = grant.node, "a node was let in");
    Ok(answer)
}

pub(super) fn remember_machine(service: &Service, node: &str, id: Option<String>) {
    locked(&service.joined).insert(node.to_owned(), LetIn { machine: id, at: service.now() });
}

fn signed(service: &Service, grant: &Grant, cluster: &ValidatedCluster) -> Result<JoinAnswer, Refusal> {
    let Grant { node, kubelet, kube_proxy, agent } = grant;
    Ok(JoinAnswer {
        ca: ca_pem(service)?,
        kubelet: sign(service, Purpose::Kubelet, node, kubelet)?,
        kube_proxy: sign(service, Purpose::KubeProxy, node, kube_proxy)?,
        agent: sign(service, Purpose::Agent, node, agent)?,
        api_servers: cluster.control_plane().map(|master| SocketAddr::new(master.ip, cluster.api().port)).collect(),
    })
}

pub(super) fn ca_pem(service: &Service) -> Result<String, Refusal> {
    service.setup.signer.ca().map_err(|error| Refusal::Failure { why: explain::chain(&error) })
}

pub(super) fn sign(service: &Service, purpose: Purpose, node: &str, request: &Request) -> Result<String, Refusal> {
    let signed = service.setup.signer.sign(request, &purpose.subject(node), DAYS);
    signed.map_err(|error| Refusal::Failure { why: explain::chain(&error) })
}
