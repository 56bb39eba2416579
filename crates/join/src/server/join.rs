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

use super::{
    Service, body,
    claim::{check_names, key},
    exchange::Exchange,
    outside::locked,
};
use crate::{
    Circumstances, Grant, Purpose, Refusal, admit,
    machine::is_machine_id,
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
    exchange.begin()?;
    let request: JoinRequest = body::json(body).await?;
    check_form(&request)?;
    exchange.claimed_by(&request.node);

    let now = service.now();
    let challenge = service.challenges.check(&request.challenge, now)?;
    let key = key(service, &request.credential).await?;
    let machine_owner = match &request.machine_id {
        Some(id) => service.machine_owner(id, Some(&request.node)).await,
        None => None,
    };
    let cluster = service.cluster();
    let seen =
        Circumstances { cluster: &cluster, peer: peer.ip(), key: &key, machine_owner: machine_owner.as_deref(), now };
    let grant = admit(&request, &seen)?;
    service.challenges.spend(challenge, now)?;
    let answer = signed(service, &grant, &cluster)?;
    remember_machine(service, &grant.node, request.machine_id);
    tracing::info!(peer = %peer.address, node = grant.node, "a node was let in");
    Ok(answer)
}

fn check_form(request: &JoinRequest) -> Result<(), Refusal> {
    check_names(&request.cluster, &request.node, &request.credential)?;
    check_machine_id(request.machine_id.as_deref())
}

pub(super) fn check_machine_id(id: Option<&str>) -> Result<(), Refusal> {
    if id.is_none_or(is_machine_id) {
        return Ok(());
    }
    Err(Refusal::Malformed { why: "its machine id is none".to_owned() })
}

pub(super) fn remember_machine(service: &Service, node: &str, id: Option<String>) {
    if let Some(id) = id {
        locked(&service.joined).insert(node.to_owned(), id);
    }
}

fn signed(service: &Service, grant: &Grant, cluster: &ValidatedCluster) -> Result<JoinAnswer, Refusal> {
    let Grant { node, kubelet, kube_proxy, agent } = grant;
    Ok(JoinAnswer {
        ca: authority_pem(service)?,
        kubelet: sign(service, Purpose::Kubelet, node, kubelet)?,
        kube_proxy: sign(service, Purpose::KubeProxy, node, kube_proxy)?,
        agent: sign(service, Purpose::Agent, node, agent)?,
        api_servers: cluster.masters().map(|master| SocketAddr::new(master.ip, cluster.api().port)).collect(),
    })
}

pub(super) fn authority_pem(service: &Service) -> Result<String, Refusal> {
    service.setup.signer.authority().map_err(|error| Refusal::Trouble { why: explain::chain(&error) })
}

pub(super) fn sign(service: &Service, purpose: Purpose, node: &str, request: &Request) -> Result<String, Refusal> {
    let signed = service.setup.signer.sign(request, &purpose.subject(node), DAYS);
    signed.map_err(|error| Refusal::Trouble { why: explain::chain(&error) })
}
