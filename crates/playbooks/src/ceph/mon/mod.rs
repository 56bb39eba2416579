//! The monitor of this node is in the quorum.
//!
//! ```text
//! no data ─► initial_monitors, and Ceph is not initialized yet ─► the first map, the same on all of them ─┐
//!         └► otherwise: the map of the monitors that are there, waited for ───────────────────────┴► data ─► started ─► in the quorum
//! ```
//! Which of the two it is, `next` says. Killed at any point, the next run finds either no data or all of it.

mod next;
mod store;

use std::{sync::Arc, time::Duration};

use ::ceph::{Client, Fsid, answers::MonStatus, codes, paths};
use engine::{About, Act, Planned, Step, StepError, Verdict};
use host::Host;
use spec::{Node, ValidatedCluster};

use self::{
    next::{Next, next},
    store::Origin,
};
use super::{
    cached_probe::CachedProbe,
    client,
    daemon::{self, Daemon, Kind},
    ids,
    source::Source,
    undo::Daemons,
};

const BOOTSTRAP: &str = "bootstrap";
const JOIN: &str = "join";

/// How often the unit and the monitor's own socket are looked at.
const CHECK_INTERVAL: Duration = Duration::from_millis(300);
/// How often a monitor without data asks what it may do, while it has to wait.
const ASK: Duration = Duration::from_secs(3);

/// The monitor of a node.
pub(crate) struct Monitor {
    cluster: ValidatedCluster,
    name: String,
    daemon: Daemon,
    source: Arc<Source>,
    probe: CachedProbe<Seen>,
    decided: CachedProbe<Next>,
}

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// False in an image, and before this node has its keys.
    is_begun: bool,
    data: Data,
    daemon: daemon::Seen,
    status: Option<MonStatus>,
}

/// What is in its place.
#[derive(Debug, Clone)]
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
            probe: CachedProbe::new(CHECK_INTERVAL),
            decided: CachedProbe::new(ASK),
        }
    }

    async fn data(&self, host: &Host, ours: &Fsid) -> Result<Data, StepError> {
        let found = paths::daemons(&*host.disk, paths::MON)?;
        match found.into_iter().find(|(name, _)| *name == self.name) {
            Some((_, Some(fsid))) if fsid == *ours => Ok(Data::Ours),
            Some((_, fsid)) => Ok(Data::Foreign(fsid)),
            None => self.decided.ask(async || self.decide(host).await).await.map(Data::None),
        }
    }

    async fn decide(&self, host: &Host) -> Result<Next, StepError> {
        let handed = self.source.handed(host).await?;
        match next(&self.name, &handed, false) {
            Next::Wait(_) => Ok(next(&self.name, &handed, self.answers(host).await?)),
            decided => Ok(decided),
        }
    }

    async fn answers(&self, host: &Host) -> Result<bool, StepError> {
        match Client::admin(host).with_short_timeout().quorum().await {
            Ok(_) => Ok(true),
            Err(error) if error.is_transient() => Ok(false),
            Err(error) => Err(client::failed(&error)),
        }
    }

    async fn check(&self, host: &Host) -> Result<Seen, StepError> {
        let Some(ours) = paths::own_fsid(&*host.disk)? else {
            let (data, daemon) = (Data::None(Next::Bootstrap), daemon::Seen::default());
            return Ok(Seen { is_begun: false, data, daemon, status: None });
        };
        let daemon = self.daemon.check(host).await?;
        let status = ::ceph::monitor(&self.name).await.map_err(|error| client::failed(&error))?;
        Ok(Seen { is_begun: true, data: self.data(host, &ours).await?, daemon, status })
    }

    async fn make(&self, host: &Host, origin: Origin) -> Result<(), StepError> {
        let handed = self.source.handed(host).await?;
        if origin == Origin::InitialMonmap && next(&self.name, &handed, true) != Next::Bootstrap {
            let message = "the other monitors have bootstrapped Ceph meanwhile, so this one joins them";
            return Err(StepError::new(codes::NO_ANSWER, message).retryable());
        }
        store::make(host, &self.cluster, &self.name, &handed, origin).await
    }
}

impl Step for Monitor {
    type Seen = Seen;
    type Undo = Daemons;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::MON, "Start Ceph's monitor", "a majority of the monitors knows where everything is")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        self.probe.ask(async || self.check(host).await).await
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let act = |key: &str, what: &str| vec![Planned::act(key, what)];
        let made = match &seen.data {
            _ if !seen.is_begun => return Ok(Vec::new()),
            Data::Ours => Vec::new(),
            Data::None(Next::Bootstrap) => act(BOOTSTRAP, "make the monitor's data, with the initial monmap"),
            Data::None(Next::Join) => act(JOIN, "make the monitor's data, with the map of the other monitors"),
            Data::None(Next::Wait(_)) => return Ok(Vec::new()),
            Data::Foreign(fsid) => {
                let path = paths::mon(&self.name);
                let message = match fsid {
                    Some(fsid) => format!("{} belongs to the Ceph cluster {fsid}, not to ours", path.display()),
                    None => format!("{} does not say which Ceph cluster it belongs to", path.display()),
                };
                return Err(StepError::new(codes::OTHER_CLUSTER, message));
            }
        };
        Ok([made, self.daemon.plan(&seen.daemon)].concat())
    }

    fn verify(&self, seen: &Seen) -> Verdict {
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

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        let done = match key.as_str() {
            BOOTSTRAP => self.make(host, Origin::InitialMonmap).await,
            JOIN => self.make(host, Origin::Quorum).await,
            _ => self.daemon.start(host).await,
        };
        self.probe.forget().await;
        self.decided.forget().await;
        done
    }

    /// Other machines may still be starting.
    fn deadline(&self) -> Duration {
        Duration::from_mins(5)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{cluster, source},
        *,
    };
    use nodekit::systemd::Unit;

    fn seen(data: Data, active: &str, state: Option<&str>) -> Seen {
        let unit = Unit { active: active.into(), sub: "dead".into(), ..Unit::default() };
        let status = |state: &str| -> MonStatus {
            let map = serde_json::json!({ "fsid": "f", "mons": [{ "name": "m1" }, { "name": "m2" }] });
            serde_json::from_value(serde_json::json!({ "state": state, "monmap": map })).unwrap()
        };
        let daemon = daemon::Seen { unit, ..daemon::Seen::default() };
        Seen { is_begun: true, data, daemon, status: state.map(status) }
    }

    #[test]
    fn from_nothing_to_the_quorum() {
        let cluster = cluster();
        let step = Monitor::new(&cluster, cluster.node("m1").unwrap(), &source(&cluster, "m1"));
        let mut reported = String::new();
        for (case, seen) in [
            ("an image", Seen { is_begun: false, ..seen(Data::None(Next::Bootstrap), "", None) }),
            ("an initial monitor", seen(Data::None(Next::Bootstrap), "inactive", None)),
            ("one that joins", seen(Data::None(Next::Join), "inactive", None)),
            ("one that waits", seen(Data::None(Next::Wait("m2 to answer".into())), "inactive", None)),
            ("down", seen(Data::Ours, "inactive", None)),
            ("starting", seen(Data::Ours, "activating", None)),
            ("alone", seen(Data::Ours, "active", Some("probing"))),
            ("in the quorum", seen(Data::Ours, "active", Some("peon"))),
        ] {
            let changes: Vec<String> = step.plan(&seen).unwrap().iter().map(ToString::to_string).collect();
            reported += &format!("{case}: {changes:?} {:?}\n", step.verify(&seen));
        }
        insta::assert_snapshot!(reported);
    }

    #[test]
    fn data_of_another_cluster_is_refused() {
        let cluster = cluster();
        let step = Monitor::new(&cluster, cluster.node("m1").unwrap(), &source(&cluster, "m1"));
        let other = Fsid::parse("11111111-0d6c-4a43-9d0e-2f1f4d1c9b10");
        let reported =
            [other, None].map(|fsid| step.plan(&seen(Data::Foreign(fsid), "inactive", None)).unwrap_err().to_string());
        insta::assert_snapshot!(reported.join("\n"));
    }
}
