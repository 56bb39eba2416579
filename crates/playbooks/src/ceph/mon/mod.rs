//! The monitor of this node is in the quorum.
//!
//! ```text
//! no data ─► founders, and nobody has founded Ceph yet ─► the first map, the same on all of them ─┐
//!         └► otherwise: the map of the monitors that are there, waited for ───────────────────────┴► data ─► started ─► in the quorum
//! ```
//! Which of the two it is, `next` says. Killed at any point, the next run finds either no data or all of it.

mod next;
pub(super) mod store;

use std::{sync::Arc, time::Duration};

use ::ceph::{Client, Fsid, answers::MonStatus, codes, paths};
use engine::{About, Step, StepError, Verdict};
use host::{Change, Host};
use spec::{Node, ValidatedCluster};

use self::{
    next::{Next, next},
    store::Origin,
};
use super::{
    client,
    daemon::{self, Daemon, Kind},
    pace::Paced,
    source::Source,
};

const FOUND: &str = "found";
const JOIN: &str = "join";

/// How often the other monitors are asked for their map while they do not answer.
const PACE: Duration = Duration::from_secs(3);

/// The monitor of a node.
pub(crate) struct Monitor {
    cluster: ValidatedCluster,
    name: String,
    daemon: Daemon,
    source: Arc<Source>,
    quorum: Paced<bool>,
}

/// What was found.
pub(crate) struct Seen {
    /// False in an image, and before this node has its keys.
    is_begun: bool,
    data: Data,
    daemon: daemon::Seen,
    status: Option<MonStatus>,
}

/// What is in its place.
enum Data {
    /// Its own data.
    Ours,
    /// Nothing.
    None(Next),
    /// What we did not put there.
    Foreign(Option<Fsid>),
}

impl Monitor {
    pub(crate) fn new(cluster: &ValidatedCluster, node: &Node, source: &Arc<Source>) -> Self {
        Self {
            cluster: cluster.clone(),
            name: node.name.clone(),
            daemon: Daemon::new(Kind::Mon, &node.name),
            source: source.clone(),
            quorum: Paced::new(PACE),
        }
    }

    async fn data(&self, host: &Host, ours: &Fsid) -> Result<Data, StepError> {
        let found = paths::daemons(&*host.disk, paths::MON)?;
        match found.into_iter().find(|(name, _)| *name == self.name) {
            Some((_, Some(fsid))) if fsid == *ours => Ok(Data::Ours),
            Some((_, fsid)) => Ok(Data::Foreign(fsid)),
            None => {
                let handed = self.source.handed(host).await?;
                let decided = next(&self.name, &handed, false);
                if !matches!(decided, Next::Wait(_)) {
                    return Ok(Data::None(decided));
                }
                let answers = self.quorum.ask(async || self.answers(host).await).await?;
                Ok(Data::None(next(&self.name, &handed, answers)))
            }
        }
    }

    async fn answers(&self, host: &Host) -> Result<bool, StepError> {
        match Client::admin(host).impatient().quorum().await {
            Ok(_) => Ok(true),
            Err(error) if error.is_transient() => Ok(false),
            Err(error) => Err(client::failed(&error)),
        }
    }

    async fn make(&self, host: &Host, origin: Origin) -> Result<(), StepError> {
        let handed = self.source.handed(host).await?;
        if origin == Origin::Founders && next(&self.name, &handed, true) != Next::Found {
            let message = "the other monitors have founded Ceph meanwhile, so this one joins them";
            return Err(StepError::new(codes::NO_ANSWER, message).retryable());
        }
        store::make(host, &self.cluster, &self.name, &handed, origin).await
    }
}

impl Step for Monitor {
    type Seen = Seen;

    fn about(&self) -> About {
        About::new("ceph-mon", "Start Ceph's monitor", "a majority of the monitors knows where everything is")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let ours = paths::own_fsid(&*host.disk)?.filter(|_| host.is_live);
        let Some(ours) = ours else {
            let (data, daemon) = (Data::None(Next::Found), daemon::Seen::default());
            return Ok(Seen { is_begun: false, data, daemon, status: None });
        };
        let daemon = self.daemon.look(host).await?;
        let status = ::ceph::monitor(&self.name).await.map_err(|error| client::failed(&error))?;
        Ok(Seen { is_begun: true, data: self.data(host, &ours).await?, daemon, status })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        let act = |key: &str, what: &str| vec![Change::Act { key: key.into(), what: what.into() }];
        let made = match &seen.data {
            _ if !seen.is_begun => return Ok(Vec::new()),
            Data::Ours => Vec::new(),
            Data::None(Next::Found) => act(FOUND, "make the monitor's data, with the map that all founders make"),
            Data::None(Next::Join) => act(JOIN, "make the monitor's data, with the map of the other monitors"),
            Data::None(Next::Wait(_)) => return Ok(Vec::new()),
            Data::Foreign(fsid) => {
                let whose =
                    fsid.as_ref().map_or_else(|| "no cluster by name".into(), |fsid| format!("the cluster {fsid}"));
                let message = format!("{} belongs to {whose}, not to ours", paths::mon(&self.name).display());
                return Err(StepError::new(codes::OTHER_CLUSTER, message));
            }
        };
        Ok([made, self.daemon.plan(&seen.daemon)].concat())
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        let waiting = |what: String, progress: String| Verdict::Waiting { what, progress };
        match (&seen.data, &seen.status) {
            _ if !seen.is_begun => Verdict::Met,
            (Data::None(Next::Wait(what)), _) => waiting(what.clone(), String::new()),
            (_, Some(status)) if status.is_in_quorum() => Verdict::Met,
            (_, Some(status)) => {
                let names = status.monmap.names();
                let what = format!("monitor {} to be in a quorum of {names}; it is {}", self.name, status.state);
                waiting(what, status.state.clone())
            }
            (_, None) => waiting(self.daemon.silence(&seen.daemon), seen.daemon.unit.sub.clone()),
        }
    }

    async fn apply(&self, change: &Change, host: &Host) -> Result<(), StepError> {
        match change {
            Change::Act { key, .. } if key == FOUND => self.make(host, Origin::Founders).await,
            Change::Act { key, .. } if key == JOIN => self.make(host, Origin::Quorum).await,
            Change::Act { .. } => self.daemon.start(host).await,
            file => Ok(file.apply(&*host.disk)?),
        }
    }

    /// Other machines may still be starting.
    fn patience(&self) -> Duration {
        Duration::from_mins(5)
    }
}
