//! The manager of this node works, or is ready to take over.

use std::{path::PathBuf, time::Duration};

use ::ceph::{CephError, Client, Entity, answers::MgrMap, paths};
use engine::{About, Act, Planned, Step, StepError, Verdict};
use host::Host;
use spec::Node;

use super::{
    cached_probe::CachedProbe,
    client,
    daemon::{self, Daemon, Kind},
    ids,
    undo::Daemons,
};

/// How often it is looked at. It takes ten seconds and more to begin.
const CACHED_FOR: Duration = Duration::from_secs(2);

/// The manager of a node.
pub(crate) struct Manager {
    name: String,
    daemon: Daemon,
    probe: CachedProbe<Seen>,
}

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// `None` in an image, and before this node has its keys.
    daemon: Option<daemon::Seen>,
    /// What the monitors know, or why they do not answer.
    managers: Result<MgrMap, String>,
}

impl Manager {
    pub(crate) fn new(node: &Node) -> Self {
        let daemon = Daemon::new(Kind::Mgr, &node.name);
        Self { name: node.name.clone(), daemon, probe: CachedProbe::new(CACHED_FOR) }
    }

    fn keyring(&self) -> PathBuf {
        paths::mgr(&self.name).join("keyring")
    }

    async fn check(&self, host: &Host) -> Result<Seen, StepError> {
        if paths::own_fsid(&*host.disk)?.is_none() {
            return Ok(Seen { daemon: None, managers: Ok(MgrMap::default()) });
        }
        Ok(Seen { daemon: Some(self.daemon.check(host).await?), managers: self.managers(host).await? })
    }

    async fn managers(&self, host: &Host) -> Result<Result<MgrMap, String>, StepError> {
        match Client::new(host, Entity::Mgr(self.name.clone()), self.keyring()).managers().await {
            Err(error) if error.is_transient() => Ok(Err(error.to_string())),
            // One that has come later is made known by the first monitor's node.
            Err(CephError::Denied { entity, .. }) => Ok(Err(format!(
                "Ceph to know the key of {entity}: `blackstart node up` on the first monitor's node registers it"
            ))),
            answer => answer.map(Ok).map_err(|error| client::failed(&error)),
        }
    }
}

impl Step for Manager {
    type Seen = Seen;
    type Undo = Daemons;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::MGR, "Start Ceph's manager", "it watches over Ceph and serves the dashboard")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        self.probe.ask(async || self.check(host).await).await
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        match (&seen.daemon, &seen.managers) {
            // A manager that finds no monitor ends, and after a few times systemd starts it no more.
            (Some(daemon), Err(_)) if !daemon.unit.is_up() => Ok(Vec::new()),
            (Some(daemon), _) => Ok(self.daemon.plan(daemon)),
            (None, _) => Ok(Vec::new()),
        }
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        let Some(daemon) = &seen.daemon else { return Verdict::Met };
        match &seen.managers {
            Ok(managers) if managers.has(&self.name) && daemon.unit.active == "active" => Verdict::Met,
            Ok(_) => Verdict::Waiting { what: self.daemon.silence(daemon), progress: daemon.unit.sub.clone() },
            Err(why) => Verdict::Waiting { what: why.clone(), progress: String::new() },
        }
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let done = self.daemon.start(host).await;
        self.probe.forget().await;
        done
    }

    /// All its modules are in Python, and several managers start at once.
    fn deadline(&self) -> Duration {
        Duration::from_mins(3)
    }
}
