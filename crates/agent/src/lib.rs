//! What keeps running on a node: `blackstart agent`.
//!
//! The agent is a handful of duties that know nothing of each other:
//!
//! | duty | where | what |
//! |---|---|---|
//! | `balancer` | everywhere | the API at `127.0.0.1:7443`, whichever master is alive |
//! | `nodes` | with `add_on: basic` | the CNI's file, routes to other nodes' pods, masquerading |
//! | `shield` | everywhere | keeps pods away from the join service |
//! | `renewal` | everywhere | certificates before they end, and restarts of what cannot reload them |
//! | `configuration` | everywhere | takes up what has changed in the description of the cluster |
//! | `report` | everywhere | how this node is doing, reported to the masters |
//! | `pod_cidrs` | masters, with `add_on: basic` | each node's podCIDR, in its Node object |
//! | `labels` | masters | `node-role.kubernetes.io/…` as cluster.yaml says |
//! | `kubelet_certificates` | masters | kubelets' certificates: approved and signed as far as they fit cluster.yaml |
//! | `join_server` | masters | the service through which nodes get in |
//! | `tokens` | masters | removes bootstrap tokens long after their end |
//! | `backups` | masters that stay | an encrypted backup of the cluster every quarter of an hour |
//! | `rotation` | masters that stay | new keys in place of the old ones, when it is this master's turn |
//! | `learners` | masters | removes an etcd learner that was added and never started |
//! | `upgrade_door` | everywhere but on the bootstrap node | lets a node be worked on in place, where no pod does |
//! | `upgrade_controller` | masters that stay | the cluster's side of that, where the agents are to do it |
//! | `progress` | the bootstrap node | the milestones it has reached, in a ConfigMap |
//!
//! Each duty is a small loop around a pure core. It waits for the files it needs, because the agent starts before the
//! node is set up. `supervise` starts it again when it fails. The agent keeps no state of its own: after a restart
//! every duty looks at the machine and the API again. To add one: a file with `run(&Agent)`, and a line in `duties`.

mod backups;
mod balancer;
mod ca;
pub mod codes;
mod configuration;
mod duties;
mod error;
mod join_key;
mod join_server;
mod kubelet_certificates;
mod labels;
mod learners;
mod node_object;
mod nodes;
mod notify;
mod pod_cidrs;
mod progress;
mod renewal;
mod report;
pub mod rotation;
mod sealed;
mod session;
mod shield;
mod supervise;
mod systemd;
#[cfg(test)]
mod testing;
mod tokens;
mod upgrade_controller;
mod upgrade_door;

use std::{net::SocketAddr, sync::Arc, time::Duration};

pub use balancer::Balancer;
pub use ca::Ca;
pub use error::AgentError;
use host::Host;
use nodekit::Layout;
pub use renewal::{READ_ONCE, key_of_token};
pub use report::Status;
use spec::{Node, ValidatedCluster};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What is worth a line in the journal, for `tracing_subscriber::EnvFilter`. The client library logs every failed attempt
/// on its own; the duties say it once.
pub const LOG_FILTER: &str = "info,kube_client=off,kube_runtime=off";

/// For giving back what others wait for, before the agent ends: its API server may be ending too.
const GIVES_BACK: Duration = Duration::from_secs(3);

/// The agent of one node.
#[derive(Clone)]
pub struct Agent {
    /// The machine.
    pub host: Host,
    /// The cluster.
    pub cluster: Arc<ValidatedCluster>,
    /// This node.
    pub node: Node,
    /// Where things are.
    pub paths: Layout,
    /// Whom nodes are to trust.
    pub ca: Ca,
    /// Stops the agent; SIGTERM and SIGINT do it too.
    pub cancel: CancellationToken,
    /// Held by duties that give something back when the agent stops.
    pub holds: TaskTracker,
}

impl Agent {
    /// True if this node runs the control plane.
    pub(crate) fn is_master(&self) -> bool {
        self.node.runs_control_plane()
    }

    /// A service of every machine with a control plane, by its port.
    pub(crate) fn masters(&self, port: u16) -> Vec<SocketAddr> {
        self.cluster.control_plane().map(|master| SocketAddr::new(master.ip, port)).collect()
    }
}

/// Runs every duty of this node until it is stopped.
pub async fn run(agent: Agent) -> Result<(), AgentError> {
    stop_on_signals(agent.cancel.clone())?;
    let agent = Arc::new(agent);
    let mut running = JoinSet::new();
    for duty in duties::of(&agent) {
        let agent = Arc::clone(&agent);
        running.spawn(async move { supervise::forever(duty.name, || (duty.run)(&agent)).await });
    }
    agent.cancel.cancelled().await;
    notify::notify("STOPPING=1");
    agent.holds.close();
    if timeout(GIVES_BACK, agent.holds.wait()).await.is_err() {
        tracing::warn!("what is held is not given back within {} s", GIVES_BACK.as_secs());
    }
    running.shutdown().await;
    Ok(())
}

fn stop_on_signals(cancel: CancellationToken) -> Result<(), AgentError> {
    let handler = |kind| signal(kind).map_err(AgentError::Signals);
    let (mut terminate, mut interrupt) = (handler(SignalKind::terminate())?, handler(SignalKind::interrupt())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        cancel.cancel();
    });
    Ok(())
}
