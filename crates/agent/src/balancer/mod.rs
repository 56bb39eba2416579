//! The local load balancer: everything on a node reaches the API at `127.0.0.1:7443`, whichever master is alive.
//!
//! ```text
//! kubelet, kube-proxy, agent ──► listener ──► proxy: lease the best healthy master, copy bytes both ways
//!                                                ▲
//! probe: /readyz of every master ──► health ─────┘ a master that goes down loses its connections at once
//! ```
//! Places are bounded, and a client that makes no use of one loses it (`seats`). It works on TCP and never sees inside TLS, so it needs no key and cannot be fooled into anything but a failed
//! connection. `health` and `choice` are pure. Nothing is kept over a restart: clients connect again.

mod backends;
mod choice;
mod health;
mod heard;
mod probe;
mod proxy;
mod seats;

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use host::Host;
use spec::ports;
use tokio::{
    net::TcpListener,
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};

use self::{backends::Backends, probe::Probe, proxy::proxy, seats::Seats};
use crate::{Agent, AgentError, notify};

/// From the beginning of one check of a master to that of the next.
const INTERVAL: Duration = Duration::from_secs(1);

/// The same while there is no healthy one, because then everybody waits.
const HURRY: Duration = Duration::from_millis(100);

/// A node has a few dozen connections; a client that opens thousands does not get the agent's memory: each takes two buffers of
/// 8 KiB, all of them 16 MiB.
const MOST_CONNECTIONS: usize = 1024;

/// Runs for ever. As soon as it listens, systemd may start what needs it.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let address = SocketAddr::from(([127, 0, 0, 1], ports::API_BALANCER));
    let listener = TcpListener::bind(address).await.map_err(|source| AgentError::Listen { address, source })?;
    notify::notify("READY=1");
    let balancer = Balancer {
        host: agent.host.clone(),
        masters: agent.masters(agent.cluster.api().port),
        temporary: agent.cluster.bootstrap_node().map(|node| SocketAddr::new(node.ip, agent.cluster.api().port)),
        rotation: agent.cluster.nodes().iter().position(|node| node.name == agent.node.name).unwrap_or(0),
        ca_file: agent.paths.kubernetes_dir.join("pki/ca.crt"),
    };
    balancer.serve(listener).await;
    Ok(())
}

/// What a balancer needs to know.
pub struct Balancer {
    /// To read the CA's file.
    pub host: Host,
    /// Addresses of all API servers.
    pub masters: Vec<SocketAddr>,
    /// The one of them that is a bootstrap node's.
    pub temporary: Option<SocketAddr>,
    /// Where this node begins among masters that are equally good.
    pub rotation: usize,
    /// The cluster's CA, which may appear later.
    pub ca_file: PathBuf,
}

impl Balancer {
    /// Serves the listener's clients for ever; dropping the future closes every connection.
    pub async fn serve(self, listener: TcpListener) {
        let backends = Backends::new(&self.masters, self.temporary, self.rotation);
        let probe = Arc::new(Probe::new(self.host, self.ca_file));
        // Whatever runs for this balancer ends with it.
        let mut tasks = JoinSet::new();
        for (index, address) in backends.addresses().into_iter().enumerate() {
            tasks.spawn(watch(Arc::clone(&backends), Arc::clone(&probe), index, address));
        }
        let seats = Seats::new(MOST_CONNECTIONS);
        loop {
            match listener.accept().await {
                Ok((client, _)) => {
                    if let Some(seat) = seats.take() {
                        tasks.spawn(proxy(client, Arc::clone(&backends), seat));
                    } else {
                        tracing::debug!("too many connections, and all of them are used: a client was turned away");
                    }
                }
                // Out of file descriptors, or a client that left already: later ones may fare better.
                Err(error) => {
                    tracing::warn!(%error, "a client could not be accepted");
                    sleep(HURRY).await;
                }
            }
            while tasks.try_join_next().is_some() {}
        }
    }
}

/// Looks at one master again and again.
async fn watch(backends: Arc<Backends>, probe: Arc<Probe>, index: usize, address: SocketAddr) {
    let mut usable = backends.usable();
    loop {
        let next = Instant::now() + INTERVAL;
        backends.seen(index, probe.check(address).await);
        sleep(HURRY).await;
        // Sleeps on as long as there is a healthy master; the loss of the last one wakes everybody. A check that was in vain
        // has taken so long that the next one follows at once.
        let _ = timeout_at(next, usable.wait_for(|&usable| usable == 0)).await;
    }
}
