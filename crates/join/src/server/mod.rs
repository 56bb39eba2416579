//! The join service of a master.
//!
//! ```text
//! hello    anybody                      a challenge; masters and administrators also hear how this master stands
//! ca       anybody, with a token's id   the CA, proved with that token
//! join     proof of a secret            throttle ─► body ─► challenge ─► credential ─► admit ─► spend ─► record ─► sign
//! master   proof of a secret of its own  the same way, ending with the cluster's keys in an envelope
//! ceph     proof of a secret of its own  the same way, ending with what the node's roles need of Ceph's keys
//! renew    the agent's certificate      new certificates for the same node
//! leave    the agent's certificate      its Node object is removed, unless something was set on it
//! report   the agent's certificate      kept in memory until the next one
//! hold     a master's agent             this master writes nothing to etcd for a moment
//! rotation-key   a master's agent       what opens the new keys of a rotation
//! nodes    a master's agent's or an administrator's certificate
//!
//! early-report   proof of a secret      the same as `report`, for a node that has not joined
//! ```
//! Any client can ask, so everything has a bound: connections and what each may hold (`limits`), bytes of bodies
//! (`budget`), failures (`throttle`), speed (`rate_limit`), lines in the journal (`tally`). Each is kept by `source::Source`: a
//! certificate's name, or the address of a stranger, so that no stranger uses up what a node needs.
//!
//! State is only in memory: spent challenges, failed attempts, machine ids of those who joined, reports. A restart loses
//! nothing that nodes do not send again. What must not be forgotten is kept by [`Records`].

mod admissions;
mod body;
mod budget;
mod ca;
mod ceph;
mod challenge;
mod claim;
mod configs;
mod early;
mod exchange;
mod handshake_failures;
mod hello;
mod hold;
mod join;
mod key_store;
mod leave;
mod limits;
mod master;
mod member;
mod outside;
mod rate_limit;
mod reports;
mod rotation_key;
mod source;
mod tally;
mod throttle;

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    routing::{get, post},
};
use host::Clock;
use jiff::{SignedDuration, Timestamp};
use spec::{Role, ValidatedCluster};
use tls::Listener;
use tokio::{
    sync::watch,
    time::{Instant, interval, timeout},
};
use tokio_util::sync::CancellationToken;

pub use self::admissions::{Evaluate, Kept, Records};
pub use self::ceph::{CephKeys, Identified};
pub use self::configs::{Configs, serve_configs};
pub use self::handshake_failures::HandshakeFailures;
pub use self::hold::{Done, Writes};
pub use self::key_store::{KeyStore, Keys};
pub use self::leave::{Departure, Departures};
pub use self::limits::serve_router;
pub(crate) use self::outside::locked;
pub use self::outside::{Answer, Credentials, DiskSigner, KnownMachine, KnownMachines, NotReady, Signer, SigningError};
use self::{
    budget::Budget, challenge::Challenges, rate_limit::RateLimit, reports::Reports, tally::Tally, throttle::Throttle,
};
pub use crate::admit::StoredToken;
use crate::{Bearer, Living, Sign, secret::NoRandomness, wire};
pub use axum::body::Bytes;

/// The API answers within this time or is not ready.
const DEADLINE: Duration = Duration::from_secs(5);
/// A node that was let in has registered long before; one that has not by then was given up.
const REGISTERS_WITHIN: SignedDuration = SignedDuration::from_mins(10);
/// A node that is there reports every few seconds.
const REPORTS_WITHIN: SignedDuration = SignedDuration::from_mins(1);

/// What the service needs to know and whom it asks.
pub struct Setup {
    /// This master's node name.
    pub master: String,
    /// The cluster, which may change while the service runs.
    pub cluster: watch::Receiver<Arc<ValidatedCluster>>,
    /// What this master has itself.
    pub key_store: Arc<dyn KeyStore>,
    /// Whether the cluster's API answers.
    pub api_ready: watch::Receiver<bool>,
    /// Where tokens are kept.
    pub credentials: Arc<dyn Credentials>,
    /// Which machine is which node.
    pub machines: Arc<dyn KnownMachines>,
    /// Who remembers what was granted and revoked.
    pub records: Arc<dyn Records>,
    /// Who knows Ceph's identity.
    pub ceph: Arc<dyn CephKeys>,
    /// Who removes nodes that leave.
    pub departures: Arc<dyn Departures>,
    /// Who stands between this master's API server and etcd.
    pub writes: Arc<dyn Writes>,
    /// What every node is to know, once all masters agree.
    pub announced: watch::Receiver<wire::Heard>,
    /// Who signs.
    pub signer: Arc<dyn Signer>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// Serves until stopped. Requests that are being answered at that moment are cut off; their nodes try again.
pub async fn serve(listener: Listener, setup: Setup, stop: CancellationToken) -> io::Result<()> {
    let service = Service::new(setup).map_err(io::Error::other)?;
    tokio::select! {
        never = serve_router(listener, routes(&service)) => match never {},
        () = report_refusals(&service) => Ok(()),
        () = stop.cancelled() => Ok(()),
    }
}

/// Says now and then what was refused, also when requests have ended.
async fn report_refusals(service: &Service) {
    let mut check = interval(tally::MINUTE / 6);
    loop {
        check.tick().await;
        if let Some(summary) = service.tally.due(Instant::now()) {
            tracing::warn!("{summary}");
        }
    }
}

/// The requests of this service, for a caller that serves more than that on the same port. Needs `ConnectInfo<Peer>`.
pub fn router(setup: Setup) -> Result<Router, NoRandomness> {
    Ok(routes(&Service::new(setup)?))
}

fn routes(service: &Arc<Service>) -> Router {
    Router::new()
        .route(wire::HELLO, get(hello::hello))
        .route(wire::CA, get(ca::ca))
        .route(wire::JOIN, post(join::join))
        .route(wire::MASTER, post(master::master))
        .route(wire::CEPH, post(ceph::ceph))
        .route(wire::RENEW, post(member::renew))
        .route(wire::REPORT, post(member::report))
        .route(wire::EARLY_REPORT, post(early::early_report))
        .route(wire::LEAVE, post(leave::leave))
        .route(wire::HOLD, post(hold::hold))
        .route(wire::ROTATION_KEY, post(rotation_key::rotation_key))
        .route(wire::NODES, get(member::nodes))
        .with_state(Arc::clone(service))
}

/// The state that all handlers share.
struct Service {
    setup: Setup,
    challenges: Challenges,
    throttle: Throttle,
    rate_limit: RateLimit,
    budget: Arc<Budget>,
    tally: Tally,
    /// The nodes that joined here; at most one per node of cluster.yaml.
    joined: Mutex<BTreeMap<String, LetIn>>,
    reports: Reports,
    /// When nodes left here; at most one per node of cluster.yaml.
    left: Mutex<BTreeMap<String, Timestamp>>,
    listening_since: Timestamp,
}

/// A node that was let in here.
struct LetIn {
    /// Which machine it is, if it has reported so.
    machine: Option<String>,
    at: Timestamp,
}

impl Service {
    fn new(setup: Setup) -> Result<Arc<Self>, NoRandomness> {
        Ok(Arc::new(Self {
            listening_since: setup.clock.now(),
            setup,
            challenges: Challenges::new()?,
            throttle: Throttle::default(),
            rate_limit: RateLimit::default(),
            budget: Arc::default(),
            tally: Tally::new(Instant::now()),
            joined: Mutex::default(),
            reports: Reports::default(),
            left: Mutex::default(),
        }))
    }

    fn now(&self) -> Timestamp {
        self.setup.clock.now()
    }

    fn cluster(&self) -> Arc<ValidatedCluster> {
        Arc::clone(&self.setup.cluster.borrow())
    }

    /// The machine that is this node and is alive: its agent has reported within a minute, or its Node is Ready. A node that
    /// was removed from the cluster is not, whatever still runs somewhere.
    async fn living(&self, node: &str) -> Option<Living> {
        let reported = self.reports.alive(node, self.now());
        let reported = reported.map(|(machine, when)| Living { machine, sign: Sign::Reported(when) });
        match timeout(DEADLINE, self.setup.machines.of(node)).await {
            Ok(Ok(Some(KnownMachine { id, ready_since: Some(since) }))) if !id.is_empty() => {
                Some(Living { machine: id, sign: Sign::Ready(since) })
            }
            Ok(Ok(None)) => None,
            Ok(Ok(Some(_)) | Err(NotReady)) | Err(_) => reported,
        }
    }

    /// Who is known to have this machine, if it is not `except`. While the API is away, only those are known who joined
    /// here: a clone that gets in meanwhile shows up as a duplicate later, and the check is no matter of security.
    ///
    /// Workers say themselves which machine they are, so what they say keeps no master out.
    async fn machine_owner(&self, machine_id: &str, except: Option<&str>) -> Option<String> {
        let cluster = self.cluster();
        let is_master = |node: &str| cluster.node(node).is_some_and(|node| node.has(Role::Master));
        let mut owners: Vec<String> = locked(&self.joined)
            .iter()
            .filter(|(node, let_in)| let_in.machine.as_deref() == Some(machine_id) && cluster.node(node).is_some())
            .map(|(node, _)| node.clone())
            .collect();
        if self.setup.key_store.machine_id().as_deref() == Some(machine_id) {
            owners.push(self.setup.master.clone());
        }
        let known = timeout(DEADLINE, self.setup.machines.owners(machine_id)).await.unwrap_or(Err(NotReady));
        if known.is_err() {
            tracing::debug!("the API is not ready: machine ids were not compared with its nodes");
        }
        owners.extend(known.into_iter().flatten());
        let counts = |owner: &String| except != Some(owner) && (!except.is_some_and(is_master) || is_master(owner));
        owners.retain(counts);
        owners.sort_by_key(|owner| !is_master(owner));
        owners.into_iter().next()
    }

    /// Who bears a node's name at the moment.
    async fn bearer(&self, node: &str) -> Bearer {
        match timeout(DEADLINE, self.setup.machines.of(node)).await.unwrap_or(Err(NotReady)) {
            Err(NotReady) => return Bearer::Unknown,
            Ok(Some(_)) => return Bearer::Registered,
            Ok(None) => {}
        }
        let now = self.now();
        let is_recent = |at: Timestamp, within: SignedDuration| now.duration_since(at).abs() < within;
        // The agent of a node that is being reset reports on for a moment after its node has left.
        let has_left = locked(&self.left).get(node).is_some_and(|left| is_recent(*left, REPORTS_WITHIN));
        let let_in = locked(&self.joined);
        let known = let_in.get(node);
        let is_reporting = |report: wire::Report| !report.early && is_recent(report.received, REPORTS_WITHIN);
        let reports = !has_left && self.reports.of(node).is_some_and(is_reporting);
        if reports || known.is_some_and(|known| is_recent(known.at, REGISTERS_WITHIN)) {
            Bearer::Machine(known.and_then(|known| known.machine.clone()))
        } else {
            Bearer::None
        }
    }
}
