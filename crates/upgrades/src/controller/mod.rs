//! The controller: the cluster's side of the work on its nodes.
//!
//! ```text
//! leader (a Lease) ─► labelled Nodes without an object, nodes that a plan begins ─► make it
//!                  └► for each object:  observe ─► next (pure) ─► effects ─► status, written only over what was read
//! ```
//! It keeps nothing that counts: what a node is at is in its object. Killed anywhere, the next one observes again, and every effect can
//! be done twice. Object, Node and slot are only written over the version that was read, so of two controllers that believe to
//! lead one loses its turn. That is no error: it observes again a second later.

mod access;
mod effects;
mod error;
mod gates;
mod labelled;
mod leader;
mod memory;
mod observe;
mod plans;
mod precondition;
mod reporting;
mod secret;
mod slot;
#[cfg(test)]
mod testing;
mod turn;

use std::{collections::BTreeMap, time::Duration};

use explain::{Explain, chain};
use kubeapi::{
    ApiError, Client,
    kube::{Api, Config, api::ListParams},
    pod::{HEALTHY, Heartbeat, READY, Ready},
};
use operations::slots::Limit;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{sleep, timeout},
};

pub use self::error::ControllerError;
use self::{leader::Leader, memory::Memory};
use crate::NodeUpgrade;

/// What is worth a line in the log, for `tracing_subscriber::EnvFilter`. The client library logs every failed attempt on its
/// own; the controller says it once.
pub const LOG_FILTER: &str = "info,kube_client=off,kube_runtime=off,tower=off";
/// Between two observations.
const PAUSE: Duration = Duration::from_secs(1);
/// For one observation of everything and what follows from it.
const ROUND: Duration = Duration::from_mins(2);

/// How the controller works.
#[derive(Debug, Clone)]
pub struct Options {
    /// What this process is called in the Lease of the leader.
    pub identity: String,
    /// How many nodes that are no masters may be taken away at once; of masters it is always one.
    pub max_unavailable: Limit,
    /// No pod removes the label on this cluster: the controller commits.
    pub commits: bool,
}

/// Runs by the service account of its pod until SIGTERM or SIGINT.
pub async fn run(options: Options) -> Result<(), ControllerError> {
    let handler = |kind| signal(kind).map_err(ControllerError::Signals);
    let (mut terminate, mut interrupt) = (handler(SignalKind::terminate())?, handler(SignalKind::interrupt())?);
    let mut controller = Controller {
        heartbeat: Some(Heartbeat::start(HEALTHY.into()).map_err(unkept(HEALTHY))?),
        ready: Some(Ready::not_yet(READY.into()).map_err(unkept(READY))?),
        ..Controller::new(in_cluster()?, options)
    };
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    controller.until(stop).await;
    Ok(())
}

/// Runs with this client, in no pod, until it is to stop; then another one may lead at once.
pub async fn run_with(client: Client, options: Options, stop: impl Future<Output = ()>) {
    Controller::new(client, options).until(stop).await;
}

fn in_cluster() -> Result<Client, ControllerError> {
    let unusable = |error: &dyn std::error::Error| ControllerError::NoAccount(chain(error));
    let mut config = Config::incluster().map_err(|error| unusable(&error))?;
    // It is observed again in a moment anyway; and "too many requests" is also how a budget holds a pod back.
    config.default_retry = false;
    config.proxy_url = None;
    config.read_timeout = Some(Duration::from_secs(15));
    Client::try_from(config).map_err(|error| unusable(&error))
}

fn unkept(file: &'static str) -> impl FnOnce(std::io::Error) -> ControllerError {
    move |source| ControllerError::NoSign { file, source }
}

struct Controller {
    /// For the probes of its pod, where it has one.
    heartbeat: Option<Heartbeat>,
    ready: Option<Ready>,
    client: Client,
    options: Options,
    leader: Leader,
    memory: Memory,
}

impl Controller {
    fn new(client: Client, options: Options) -> Self {
        let leader = Leader::new(&client, &options.identity);
        Self { heartbeat: None, ready: None, client, options, leader, memory: Memory::default() }
    }

    async fn until(&mut self, stop: impl Future<Output = ()>) {
        let Options { identity, max_unavailable, commits } = &self.options;
        tracing::info!(identity, ?max_unavailable, commits, "started");
        tokio::select! {
            () = self.forever() => {}
            () = stop => {}
        }
        self.leader.release().await;
    }

    async fn forever(&mut self) {
        let mut failure = None;
        loop {
            if let Some(heartbeat) = &self.heartbeat {
                heartbeat.beat();
            }
            let done = timeout(ROUND, Box::pin(self.round())).await.unwrap_or_else(|_| {
                let why = format!("no answer within {} s", ROUND.as_secs());
                Err(ApiError::Unreachable { doing: "observe the nodes".to_owned(), why }.into())
            });
            // Once when it begins, once when it is over.
            let why = done.err().map(|error| (error.code().id, error.advice(), chain(&error)));
            match (&failure, &why) {
                (None, Some((code, hint, why))) => tracing::warn!(code, hint, "{why}; trying on"),
                (Some(_), None) => tracing::info!("the API answers again"),
                _ => {}
            }
            failure = why;
            sleep(PAUSE).await;
        }
    }

    /// One that waits for its turn, and sees who leads, is ready too.
    async fn leads(&mut self) -> Result<bool, ApiError> {
        let leads = self.leader.leads().await;
        if let Some(ready) = &mut self.ready {
            ready.show(leads.is_ok());
        }
        leads
    }

    async fn round(&mut self) -> Result<(), ControllerError> {
        if !self.leads().await? {
            self.memory = Memory::default();
            return Ok(());
        }
        let api: Api<NodeUpgrade> = Api::all(self.client.clone());
        let objects = api.list(&ListParams::default()).await.map_err(ApiError::of("list NodeUpgrades"))?.items;
        let mut known: BTreeMap<String, NodeUpgrade> =
            objects.into_iter().map(|object| (object.node().to_owned(), object)).collect();
        for made in labelled::adopt(&self.client, &known).await? {
            known.insert(made.node().to_owned(), made);
        }
        self.plans(&mut known).await?;
        self.memory.keep_only(|node| known.contains_key(node));
        // Those that are away from the cluster first: a round that is cut short must not leave one of them waiting.
        let mut objects: Vec<NodeUpgrade> = known.into_values().collect();
        objects.sort_by_key(|object| !object.status.holds_slot());
        for object in objects {
            // A long round must not cost the Lease.
            if !self.leads().await? {
                return Ok(());
            }
            self.turn(object).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Server, controller};

    #[tokio::test]
    async fn who_leads_and_who_sees_the_one_that_leads_are_ready() {
        let server = Server::default();
        let client = server.serve().await;
        let dir = tempfile::tempdir().unwrap();
        let mut two = ["c0", "c1"].map(|name| {
            let mut one = controller(&client);
            one.leader = super::Leader::new(&client, name);
            one.ready = Some(super::Ready::not_yet(dir.path().join(name)).unwrap());
            one
        });
        let are_ready = || ["c0", "c1"].map(|name| dir.path().join(name).exists());
        assert_eq!(are_ready(), [false, false]);
        for (one, expected) in two.iter_mut().zip([true, false]) {
            assert_eq!(one.leads().await.unwrap(), expected);
        }
        assert_eq!(are_ready(), [true, true]);
        server.with(|held| held.is_away = true);
        two[1].leads().await.unwrap_err();
        assert_eq!(are_ready(), [true, false]);
    }
}
