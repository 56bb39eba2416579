//! What a pod of a `DaemonSet` does on its node.
//!
//! ```text
//!        ┌────────────────────────────────────────────────────────────────────────┐
//!        ▼                                                                        │
//! put script and program ─► look at the node ─► next ─┬─ wait ────────────────────┤
//!                                                     ├─ follow the unit ─────────┤─► report: readiness, Node, Events
//!                                                     └─ take a slot, start it ───┘
//! ```
//! The work itself is a unit of the node's systemd and needs no pod: it goes on when the pod is deleted, and the next pod
//! joins it. The pod keeps nothing but how often runs have failed; after a restart it looks at the node again.
//!
//! Without the API a unit that runs is followed to its end, and its result is reported later; no new one starts, because
//! no pod could say how many others work at the same time.

mod cluster;
mod metrics;
mod next;
mod node_events;
mod put;
mod settings;
#[cfg(test)]
mod testing;
mod turn;
mod turns;
mod unit;

use std::{path::Path, sync::Arc, time::Duration};

use explain::{Explain, Message};
use host::{Commands, Host, RealCommands};
use jiff::Timestamp;
use kubeapi::pod::{self, Heartbeat};
use operations::slots::Slots;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::sleep,
};

use self::{
    cluster::Cluster,
    metrics::Metrics,
    next::{History, pause},
    put::Putting,
    settings::Settings,
};
use crate::{PodError, Prep, Report, Signs, State, probe::HOST};

/// Where the script and its options are mounted.
pub(crate) const CONFIG_MAP: &str = "/bootstrap";
/// Between two signs of life of a loop that waits.
const BEAT: Duration = Duration::from_secs(10);

/// What is worth a line in the log, for `tracing_subscriber::EnvFilter`. The client library logs every failed attempt on its
/// own; the pod says it once.
pub const LOG_FILTER: &str = "info,kube_client=off,kube_runtime=off,tower=off";

/// Where the lines of the work go; the one place that prints is elsewhere.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// A pod on its node.
struct Pod {
    prep: Prep,
    settings: Settings,
    /// The node's file system.
    host: Host,
    commands: Arc<dyn Commands>,
    say: Say,
    signs: Signs,
    heartbeat: Heartbeat,
    putting: Putting,
    cluster: Cluster,
    /// Made when the API is first needed; it remembers what it has seen of others.
    slots: Option<Slots>,
    /// Whether nothing of an earlier pod is left among them.
    is_tidy: bool,
    metrics: Metrics,
    history: History,
    /// What went wrong with a run, or around it, as long as no later run has reported something else.
    failure: Option<Failure>,
}

/// Something that the work itself could not report.
struct Failure {
    report: Report,
    /// Of a run: then only a better run ends it.
    of_run: bool,
}

/// Runs until SIGTERM or SIGINT. `program` is this program's own file, `say` prints a line.
pub async fn run(prep: Prep, program: &Path, say: Say) -> Result<(), PodError> {
    let handler = |kind| signal(kind).map_err(PodError::Signals);
    let (mut terminate, mut interrupt) = (handler(SignalKind::terminate())?, handler(SignalKind::interrupt())?);
    let mut pod = Pod::new(prep, program, say)?;
    let metrics = pod.metrics.clone();
    tokio::spawn(async move {
        if let Err(error) = metrics.serve().await {
            tracing::warn!(code = error.code().id, hint = error.advice(), "{}", explain::chain(&error));
        }
    });
    // A unit that runs goes on without this pod; its slot is freed when the next pod is done, or when it expires.
    tokio::select! {
        () = pod.forever() => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopped; what runs on the node goes on");
    Ok(())
}

impl Pod {
    fn new(prep: Prep, program: &Path, say: Say) -> Result<Self, PodError> {
        let settings = Settings::read(|name| std::env::var(name).ok())?;
        let root = Path::new(HOST);
        if !root.join("etc").is_dir() {
            return Err(PodError::NoHost(root.to_path_buf()));
        }
        let signs = Signs::default();
        // What an earlier container of this pod has left says nothing.
        pod::remove(&signs.ready()).map_err(unwritable(&signs.ready()))?;
        let heartbeat = Heartbeat::start(signs.healthy()).map_err(unwritable(&signs.healthy()))?;
        tracing::info!(node = settings.node, %prep, check_interval = ?settings.check_interval, "started");
        Ok(Self {
            prep,
            host: Host::rooted(root),
            commands: Arc::new(RealCommands),
            say,
            signs,
            heartbeat,
            putting: Putting::new(prep, root, Path::new(CONFIG_MAP), program.to_path_buf()),
            cluster: Cluster::new(prep, &settings.node, settings.check_interval),
            slots: None,
            is_tidy: false,
            metrics: Metrics::new(prep),
            history: History::default(),
            failure: None,
            settings,
        })
    }

    async fn forever(&mut self) {
        loop {
            let wait = match self.turn().await {
                Ok(wait) => wait,
                Err(error) => {
                    self.failed(&error).await;
                    pause(self.history.failures)
                }
            };
            self.rest(wait).await;
        }
    }

    /// Something failed that is in no report. It gets a report of its own, and is tried again later.
    async fn failed(&mut self, error: &PodError) {
        let of_run = matches!(error, PodError::NoReport { .. } | PodError::Killed { .. });
        self.history.stumble(Timestamp::now(), of_run);
        let again = pause(self.history.failures).as_secs();
        tracing::error!(code = error.code().id, hint = error.advice(), "{}; again in {again} s", explain::chain(error));
        let output = Message::Error(error.diagnostic().recorded());
        let boot_id = self.boot_id().unwrap_or_default();
        let report = node_events::of_pod(self.prep, State::Failed, output, &boot_id, Timestamp::now());
        self.publish(&report).await;
        self.failure = Some(Failure { report, of_run });
    }

    /// Publishes a report: readiness, Node, Events, metrics.
    async fn publish(&mut self, report: &Report) {
        self.show_readiness(report);
        self.cluster.report(report).await;
        let (history, api_answers) = (self.history.clone(), self.cluster.answers());
        self.metrics.set(|figures| {
            figures.state = Some(report.state);
            figures.last_run = history.ran.or(Some(report.at));
            figures.runs = history.runs;
            figures.failures = history.failures;
            figures.api_answers = api_answers;
            figures.requirements.clone_from(&report.requirements);
        });
    }

    fn show_readiness(&self, report: &Report) {
        let file = self.signs.ready();
        let done = if report.state.is_fine() {
            std::fs::write(&file, format!("{}\n", report.state))
        } else {
            pod::remove(&file)
        };
        if let Err(error) = done {
            tracing::warn!(%error, "cannot write {}", file.display());
        }
    }

    async fn rest(&self, mut time: Duration) {
        while !time.is_zero() {
            self.heartbeat.beat();
            let part = time.min(BEAT);
            sleep(part).await;
            time -= part;
        }
        self.heartbeat.beat();
    }
}

fn unwritable(path: &Path) -> impl FnOnce(std::io::Error) -> PodError + use<> {
    let path = path.to_path_buf();
    move |source| host::HostError { doing: "write", path, source }.into()
}
