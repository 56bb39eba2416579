//! The join service of a master: everything `crates/join` needs from a real machine.
//!
//! It starts as soon as the serving certificate exists, that is before the API answers: nodes that come early then hear
//! that they are early, and from whom. The way to the API is opened beside it and opened again when the kubeconfig is
//! renewed; a new serving certificate is taken up without closing the port.

mod departures;
mod machines;
mod tokens;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use join::{
    JoinKey,
    server::{self, DiskSigner, Doubters, Setup},
};
use kube::{Api, Client, api::ListParams, core::PartialObjectMeta};
use spec::ports;
use tls::{Listener, ServerCertificate};
use tokio::{net::TcpListener, sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use self::{departures::Leavers, machines::Machines, tokens::Tokens};
use crate::{Agent, AgentError, node_object::NodeObject, session};

/// Between two looks whether the API answers, while it does not and while it does.
const EARLY: Duration = Duration::from_millis(500);
const READY: Duration = Duration::from_secs(5);

/// Runs until the cluster's CA is replaced.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let pki = agent.paths.kubernetes_dir.join("pki");
    let [certificate_file, key_file, ca_file] = ["apiserver.crt", "apiserver.key", "ca.crt"].map(|name| pki.join(name));
    let ca = session::wait_for(&agent.host, &ca_file).await?;
    let key = session::wait_for(&agent.host, &key_file).await?;
    let shown = session::wait_for(&agent.host, &certificate_file).await?;
    let certificate = ServerCertificate::new(&shown, &key)?;

    let address = SocketAddr::new(everywhere(agent.node.ip), ports::JOIN);
    let tcp = TcpListener::bind(address).await.map_err(|source| AgentError::Listen { address, source })?;
    let (open, client) = watch::channel(None);
    let (tell_ready, api_ready) = watch::channel(false);
    let setup = setup(agent, &client, api_ready)?;
    let doubters = Doubters::new(setup.cluster.clone());
    let listener = Listener::telling(tcp, &certificate, &ca, move |peer, why| doubters.note(&peer, why))?;
    let follow_certificate = async {
        let mut shown = shown;
        loop {
            session::until_changed(&agent.host, &certificate_file, &shown).await?;
            shown = session::wait_for(&agent.host, &certificate_file).await?;
            let key = session::wait_for(&agent.host, &key_file).await?;
            certificate.replace(&shown, &key)?;
            tracing::info!("the join service shows a new certificate");
        }
    };
    tracing::info!(%address, "the join service listens");
    // The service stops when this future is dropped, like every duty; it needs no signal of its own.
    tokio::select! {
        ended = server::serve(listener, setup, CancellationToken::new()) => {
            ended.map_err(|source| AgentError::Listen { address, source })
        }
        ended = follow_certificate => ended,
        ended = session::until_changed(&agent.host, &ca_file, &ca) => ended,
        ended = keep_open(agent, &open) => ended,
        () = follow_readiness(client, tell_ready) => Ok(()),
    }
}

fn setup(
    agent: &Agent,
    client: &watch::Receiver<Option<Client>>,
    api_ready: watch::Receiver<bool>,
) -> Result<Setup, AgentError> {
    let key_file = agent.paths.config_dir.join("join.key");
    let join_key = match agent.host.disk.read_optional(&key_file)? {
        Some(text) => Some(JoinKey::parse(&String::from_utf8_lossy(&text))?),
        None => None,
    };
    let (disk, clock) = (Arc::clone(&agent.host.disk), Arc::clone(&agent.host.clock));
    let embedded = agent.cluster.bootstrap().token.clone();
    Ok(Setup {
        master: agent.node.name.clone(),
        cluster: watch::channel(Arc::clone(&agent.cluster)).1,
        join_key,
        api_ready,
        credentials: Arc::new(Tokens { embedded, client: client.clone() }),
        machines: Arc::new(Machines::new(client.clone())),
        departures: Arc::new(Leavers { client: client.clone() }),
        signer: Arc::new(DiskSigner::new(disk, clock, &agent.paths.kubernetes_dir, agent.cluster.name())),
        clock: Arc::clone(&agent.host.clock),
    })
}

/// The address that means all of this machine's.
fn everywhere(node: IpAddr) -> IpAddr {
    match node {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// Keeps the way to the API open, with whatever kubeconfig is there.
async fn keep_open(agent: &Agent, open: &watch::Sender<Option<Client>>) -> Result<(), AgentError> {
    loop {
        let opened = |client| async {
            open.send_replace(Some(client));
            std::future::pending().await
        };
        session::with_client(agent, opened).await?;
    }
}

/// Asks the smallest question whose answer needs etcd.
async fn follow_readiness(client: watch::Receiver<Option<Client>>, ready: watch::Sender<bool>) {
    loop {
        let current = client.borrow().clone();
        let answers = match current {
            Some(client) => {
                let nodes: Api<PartialObjectMeta<NodeObject>> = Api::all(client);
                nodes.list(&ListParams::default().limit(1)).await.is_ok()
            }
            None => false,
        };
        ready.send_if_modified(|known| std::mem::replace(known, answers) != answers);
        sleep(if answers { READY } else { EARLY }).await;
    }
}
