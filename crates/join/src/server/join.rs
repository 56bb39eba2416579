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

use super::{Service, authority::stored_token, body, exchange::Exchange, outside::locked};
use crate::{
    Circumstances, Grant, Purpose, Refusal, admit,
    admit::Key,
    machine::is_machine_id,
    purpose::DAYS,
    secret::moment,
    wire::{ClaimedCredential, JoinAnswer, JoinRequest},
};

/// As long as a DNS name can be.
const LONGEST_NAME: usize = 253;

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
    if let Some(id) = request.machine_id {
        locked(&service.joined).insert(grant.node.clone(), id);
    }
    tracing::info!(peer = %peer.address, node = grant.node, "a node was let in");
    Ok(answer)
}

/// Names go into the log and into answers, so nothing else than names gets any further.
fn check_form(request: &JoinRequest) -> Result<(), Refusal> {
    let is_name = |text: &str| {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
        (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(fits)
    };
    let of_credential = match &request.credential {
        ClaimedCredential::NodeSecret { node, .. } => is_name(node),
        ClaimedCredential::Token { .. } => true,
    };
    let why = if !is_name(&request.node) || !is_name(&request.cluster) || !of_credential {
        "a name in it is none"
    } else if !request.machine_id.as_deref().is_none_or(is_machine_id) {
        "its machine id is none"
    } else {
        return Ok(());
    };
    Err(Refusal::Malformed { why: why.to_owned() })
}

async fn key(service: &Service, credential: &ClaimedCredential) -> Result<Key, Refusal> {
    match credential {
        ClaimedCredential::NodeSecret { node, expires } => {
            let join_key = service.setup.join_key.as_ref().ok_or(Refusal::NoJoinKey)?;
            Ok(join_key.node_secret(node, moment(*expires)).into())
        }
        ClaimedCredential::Token { id } => Ok(stored_token(service, id).await?.into()),
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
