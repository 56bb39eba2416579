//! One API server starts first. All of them at once write the same first objects into the same etcd, undo each other's
//! attempts, and each is ready later than one alone; what waits for the cluster needs only one.

use std::{
    path::Path,
    sync::OnceLock,
    time::{Duration, Instant},
};

use engine::{About, Step, StepError, Verdict};
use host::{Change, Host};
use spec::{Node, ValidatedCluster};

use super::services::api_url;
use crate::{
    service::{Health, Probe},
    systemd,
};

/// How long the others are given. None of them has to come: this only saves time.
const LIMIT: Duration = Duration::from_secs(20);

/// Lets another master's API server be ready first, where one is about to be.
pub(super) struct ApiTurn {
    others: Vec<Probe>,
    since: OnceLock<Instant>,
}

/// Whether it is our turn.
pub(super) struct Seen {
    is_ours: bool,
}

impl ApiTurn {
    /// For a master that is not the first.
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, ca: &Path) -> Self {
        let others = cluster.masters().filter(|master| master.name != node.name);
        let probe = |master: &Node| Probe::api_server(api_url(cluster, master), ca.to_owned());
        Self { others: others.map(probe).collect(), since: OnceLock::new() }
    }

    async fn is_any_ready(&self, host: &Host) -> Result<bool, StepError> {
        for probe in &self.others {
            if probe.look(host).await? == Health::Good {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Step for ApiTurn {
    type Seen = Seen;

    fn about(&self) -> About {
        About::new(
            "api-turn",
            "Let the first API server start",
            "one alone is ready sooner than several that hinder each other",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let is_over = self.since.get_or_init(Instant::now).elapsed() > LIMIT;
        let is_ours = !host.is_live
            || is_over
            || systemd::look(host, "kube-apiserver.service").await?.is_up()
            || self.is_any_ready(host).await?;
        Ok(Seen { is_ours })
    }

    fn plan(&self, _seen: &Seen) -> Result<Vec<Change>, StepError> {
        Ok(Vec::new())
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        if seen.is_ours {
            return Verdict::Met;
        }
        let what = format!("the API server of another master, for at most {} s", LIMIT.as_secs());
        Verdict::Waiting { progress: String::new(), what }
    }
}
