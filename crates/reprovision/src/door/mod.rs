//! What a pod of `ipb-daemonset` does on its node: it opens the door, and nothing else.
//!
//! ```text
//! put program and units ─► start the unit ─► its journal is the pod's log
//!                                        └─► the node reports `armed` under the order to be armed: remove the label
//! ```
//! The pod reads no Secret, decides nothing and waits for no reboot. It goes with the label, which is its last act; all else is
//! in a unit of the node by then. A pod that comes back finds out from the Node what there is to do.
//!
//! On a cluster of Blackstart no pod is needed: the agent of the node opens the door ([`OfAgent`]), and the controller commits.

mod agent;
mod cluster;
mod error;
mod observed;
mod open;
mod put;

use std::{path::Path, sync::Arc, time::Duration};

use explain::{Explain, chain};
use host::Host;
use jiff::Timestamp;
use kubeapi::pod::{HEALTHY, Heartbeat, READY, Ready};
use nodekit::from_pod::{HOST, Journal, on_node};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};

pub use self::{agent::OfAgent, error::DoorError};
use self::{cluster::Cluster, open::Opener};
use crate::paths;

/// What is worth a line in the log, for `tracing_subscriber::EnvFilter`.
pub const LOG_FILTER: &str = "info,kube_client=off,kube_runtime=off,tower=off";
/// Between two observations.
const PAUSE: Duration = Duration::from_secs(1);

/// Where the lines of the work go; the one place that prints is elsewhere.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// Runs until SIGTERM or SIGINT. `program` is this program's own file, `say` prints a line.
pub async fn run(node: &str, program: &Path, say: Say) -> Result<(), DoorError> {
    let handler = |kind| signal(kind).map_err(DoorError::Signals);
    let (mut terminate, mut interrupt) = (handler(SignalKind::terminate())?, handler(SignalKind::interrupt())?);
    if !Path::new(HOST).join("etc").is_dir() {
        return Err(DoorError::NoHost);
    }
    let mut door = Door {
        heartbeat: Heartbeat::start(HEALTHY.into()).map_err(unkept(HEALTHY))?,
        ready: Ready::not_yet(READY.into()).map_err(unkept(READY))?,
        opener: Opener::new(node, Host::rooted(HOST), || on_node("systemctl"), program),
        cluster: Cluster::new(node)?,
    };
    tracing::info!(node, "started");
    tokio::select! {
        () = door.forever() => {}
        () = follow(say) => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopped; what runs on the node goes on");
    Ok(())
}

fn unkept(file: &'static str) -> impl FnOnce(std::io::Error) -> DoorError {
    move |source| DoorError::NoSign { file, source }
}

struct Door {
    heartbeat: Heartbeat,
    /// The unit is on the node, and was started.
    ready: Ready,
    opener: Opener,
    cluster: Cluster,
}

impl Door {
    async fn forever(&mut self) {
        let mut failure = None;
        loop {
            self.heartbeat.beat();
            let done = self.turn().await;
            // What was started goes on without the API.
            if !matches!(done, Err(DoorError::Api(_))) {
                self.ready.show(done.is_ok());
            }
            let why = done.err().map(|error| (error.code().id, error.advice(), chain(&error)));
            match (&failure, &why) {
                (before, Some((code, hint, why))) if before.as_ref() != Some(&(*code, hint.clone(), why.clone())) => {
                    tracing::warn!(code, hint, "{why}; trying on");
                }
                (Some(_), None) => tracing::info!("goes on"),
                _ => {}
            }
            failure = why;
            sleep(PAUSE).await;
        }
    }

    async fn turn(&mut self) -> Result<(), DoorError> {
        self.opener.put().await?;
        self.heartbeat.beat();
        let observed = self.cluster.observe().await?;
        if !observed.is_over() {
            self.opener.start().await?;
        }
        if observed.commits() {
            self.cluster.remove_label(&observed).await?;
            tracing::info!("the node is armed: removed its label, which is the commit");
        }
        Ok(())
    }
}

/// The unit's journal, as long as there is one to follow.
async fn follow(say: Say) {
    let mut since = Timestamp::now();
    loop {
        match Journal::follow(paths::UNIT, since) {
            Ok(mut journal) => {
                while let Ok(Some(line)) = journal.next().await {
                    say(&line);
                }
            }
            Err(error) => tracing::warn!(%error, "cannot follow the node's journal; trying on"),
        }
        since = Timestamp::now();
        sleep(PAUSE).await;
    }
}
