//! The join service of a master: everything `crates/join` needs from a real machine.
//!
//! It starts as soon as there is a serving certificate, that is before the API answers and, on a sealed master, before it
//! has joined: nodes that come early then hear that they are early, and masters ask each other whether there is a
//! cluster. The way to the API is opened beside it and opened again when the kubeconfig is
//! renewed; a new serving certificate or another CA is taken up without closing the port.

mod admissions;
mod ceph;
mod departures;
mod hold;
mod identity;
mod key_store;
mod machines;
mod tokens;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use join::server::{self, DiskSigner, HandshakeFailures, Setup};
use kube::{Api, Client, api::ListParams, core::PartialObjectMeta};
use spec::ports;
use tls::{Listener, ServerCertificate};
use tokio::{net::TcpListener, sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use self::{
    admissions::Book, ceph::InTheApi, departures::Leavers, hold::AtTheSocket, key_store::OnDisk, machines::Machines,
    tokens::Tokens,
};
use crate::{Agent, AgentError, node_object::NodeObject, session};

/// Between two checks whether the API answers, while it does not and while it does.
const EARLY: Duration = Duration::from_millis(500);
const READY: Duration = Duration::from_secs(5);

/// Runs until something fails.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let shown = identity::wait(agent).await?;
    let certificate = ServerCertificate::new(&shown.certificate, &shown.key)?;
    let address = SocketAddr::new(everywhere(agent.node.ip), ports::JOIN);
    let tcp = TcpListener::bind(address).await.map_err(|source| AgentError::Listen { address, source })?;
    let (open, client) = watch::channel(None);
    let (report_ready, api_ready) = watch::channel(false);
    let records = Arc::new(Book::open(agent, &client, &api_ready)?);
    let setup = setup(agent, &client, api_ready, &records);
    let key_store = Arc::clone(&setup.key_store);
    let handshake_failures = HandshakeFailures::new(setup.cluster.clone());
    let listener =
        Listener::reporting(tcp, &certificate, &shown.ca, move |peer, why| handshake_failures.note(&peer, why))?;
    let clients = listener.clients();
    tracing::info!(%address, "the join service listens");
    // The service stops when this future is dropped, like every duty; it needs no signal of its own.
    tokio::select! {
        ended = server::serve(listener, setup, CancellationToken::new()) => {
            ended.map_err(|source| AgentError::Listen { address, source })
        }
        ended = identity::follow(agent, shown, &certificate, &clients) => ended,
        ended = keep_open(agent, &open) => ended,
        () = records.follow(agent, &*key_store) => Ok(()),
        () = follow_readiness(client, report_ready) => Ok(()),
    }
}

fn setup(
    agent: &Agent,
    client: &watch::Receiver<Option<Client>>,
    api_ready: watch::Receiver<bool>,
    records: &Arc<Book>,
) -> Setup {
    let (disk, clock) = (Arc::clone(&agent.host.disk), Arc::clone(&agent.host.clock));
    let embedded = agent.cluster.bootstrap().token.clone();
    Setup {
        master: agent.node.name.clone(),
        cluster: watch::channel(Arc::clone(&agent.cluster)).1,
        key_store: Arc::new(OnDisk { host: agent.host.clone(), paths: agent.paths.clone() }),
        api_ready,
        credentials: Arc::new(Tokens { embedded, client: client.clone() }),
        machines: Arc::new(Machines::new(client.clone())),
        records: Arc::<Book>::clone(records),
        ceph: Arc::new(InTheApi { client: client.clone(), clock: Arc::clone(&agent.host.clock) }),
        departures: Arc::new(Leavers { client: client.clone(), cluster: Arc::clone(&agent.cluster) }),
        writes: Arc::new(AtTheSocket::new(&agent.host)),
        announced: agent.ca.announced.subscribe(),
        signer: Arc::new(DiskSigner::new(disk, clock, &agent.paths.kubernetes_dir, agent.cluster.name())),
        clock: Arc::clone(&agent.host.clock),
    }
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
