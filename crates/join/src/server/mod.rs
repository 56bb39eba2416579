//! The join service of a master.
//!
//! ```text
//! hello    anybody                      a challenge
//! ca       anybody, with a token's id   the authority, proved with that token
//! join     proof of a secret            throttle ─► body ─► challenge ─► credential ─► admit ─► spend ─► sign
//! master   proof of a secret of its own  the same way, ending with the cluster's keys in an envelope
//! ceph     proof of a secret of its own  the same way, ending with what the node's roles need of Ceph's keys
//! renew    the agent's certificate      new certificates for the same node
//! leave    the agent's certificate      its Node object is removed
//! report   the agent's certificate      kept in memory until the next one
//! hold     a master's agent             this master writes nothing to etcd for a moment
//! nodes    an agent's or administrator's certificate
//!
//! early-report   proof of a secret      the same as `report`, for a node that has not joined
//! ```
//! State is only in memory: spent challenges, failed attempts, machine ids of those who joined, reports. A restart loses
//! nothing that nodes do not send again.

mod authority;
mod body;
mod ceph;
mod challenge;
mod claim;
mod doubters;
mod early;
mod exchange;
mod hello;
mod hold;
mod holdings;
mod join;
mod leave;
mod master;
mod member;
mod outside;
mod reports;
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
use jiff::Timestamp;
use spec::ValidatedCluster;
use tls::{Listener, Peer};
use tokio::{sync::watch, time::timeout};
use tokio_util::sync::CancellationToken;

pub use self::ceph::{CephKeys, Identified};
pub use self::doubters::Doubters;
pub use self::hold::{Done, Writes};
pub use self::holdings::{Holdings, Keys};
pub use self::leave::Departures;
pub(crate) use self::outside::locked;
pub use self::outside::{Answer, Credentials, DiskSigner, KnownMachines, NotReady, Signer, SigningError, StoredToken};
use self::{challenge::Challenges, reports::Reports, throttle::Throttle};
use crate::{secret::NoRandomness, wire};

/// The API answers within this time or is not ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the service needs to know and whom it asks.
pub struct Setup {
    /// This master's node name.
    pub master: String,
    /// The cluster, which may change while the service runs.
    pub cluster: watch::Receiver<Arc<ValidatedCluster>>,
    /// What this master has itself.
    pub holdings: Arc<dyn Holdings>,
    /// Whether the cluster's API answers.
    pub api_ready: watch::Receiver<bool>,
    /// Where tokens are kept.
    pub credentials: Arc<dyn Credentials>,
    /// Which machine is which node.
    pub machines: Arc<dyn KnownMachines>,
    /// Who knows Ceph's identity.
    pub ceph: Arc<dyn CephKeys>,
    /// Who removes nodes that leave.
    pub departures: Arc<dyn Departures>,
    /// Who stands between this master's API server and etcd.
    pub writes: Arc<dyn Writes>,
    /// [`crate::authority_mark`] of what every node is to trust, once all masters do.
    pub announced: watch::Receiver<Option<String>>,
    /// Who signs.
    pub signer: Arc<dyn Signer>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

/// Serves until stopped. Requests that are being answered at that moment are cut off; their nodes try again.
pub async fn serve(listener: Listener, setup: Setup, stop: CancellationToken) -> io::Result<()> {
    let service = router(setup).map_err(io::Error::other)?.into_make_service_with_connect_info::<Peer>();
    tokio::select! {
        ended = axum::serve(listener, service) => ended,
        () = stop.cancelled() => Ok(()),
    }
}

/// The requests of this service, for whoever serves more than that on the same port. Needs `ConnectInfo<Peer>`.
pub fn router(setup: Setup) -> Result<Router, NoRandomness> {
    let service = Service {
        listening_since: setup.clock.now(),
        setup,
        challenges: Challenges::new()?,
        throttle: Throttle::default(),
        joined: Mutex::default(),
        reports: Reports::default(),
    };
    Ok(Router::new()
        .route(wire::HELLO, get(hello::hello))
        .route(wire::CA, get(authority::authority))
        .route(wire::JOIN, post(join::join))
        .route(wire::MASTER, post(master::master))
        .route(wire::CEPH, post(ceph::ceph))
        .route(wire::RENEW, post(member::renew))
        .route(wire::REPORT, post(member::report))
        .route(wire::EARLY_REPORT, post(early::early_report))
        .route(wire::LEAVE, post(leave::leave))
        .route(wire::HOLD, post(hold::hold))
        .route(wire::NODES, get(member::nodes))
        .with_state(Arc::new(service)))
}

/// The state that all handlers share.
struct Service {
    setup: Setup,
    challenges: Challenges,
    throttle: Throttle,
    /// Machine ids of the nodes that joined here, by node; at most one per node of cluster.yaml.
    joined: Mutex<BTreeMap<String, String>>,
    reports: Reports,
    listening_since: Timestamp,
}

impl Service {
    fn now(&self) -> Timestamp {
        self.setup.clock.now()
    }

    fn cluster(&self) -> Arc<ValidatedCluster> {
        Arc::clone(&self.setup.cluster.borrow())
    }

    /// Who is known to have this machine, if it is not `except`. While the API is away, only those are known who joined
    /// here: a clone that gets in meanwhile shows up as a duplicate later, and the check is no matter of security.
    async fn machine_owner(&self, machine_id: &str, except: Option<&str>) -> Option<String> {
        let cluster = self.cluster();
        let is_other = |node: &str| except != Some(node);
        let here = locked(&self.joined)
            .iter()
            .find(|(node, id)| *id == machine_id && is_other(node) && cluster.node(node).is_some())
            .map(|(node, _)| node.clone());
        if here.is_some() {
            return here;
        }
        let known = timeout(PATIENCE, self.setup.machines.owner(machine_id)).await.unwrap_or(Err(NotReady));
        if known.is_err() {
            tracing::debug!("the API is not ready: machine ids were not compared with its nodes");
        }
        known.ok().flatten().filter(|node| is_other(node))
    }
}
