//! One API server starts first. All of them at once write the same first objects into the same etcd, undo each other's
//! attempts, and each is ready later than one alone; what waits for the cluster needs only one.

use std::{
    io::ErrorKind,
    net::SocketAddr,
    path::Path,
    sync::OnceLock,
    time::{Duration, Instant},
};

use engine::{About, Step, StepError, Verdict};
use host::{Change, Host};
use spec::{Node, ValidatedCluster};
use tokio::{net::TcpStream, time::timeout};

use super::services::api_url;
use crate::{
    service::{Health, Probe},
    systemd,
};

/// How long the others are given. None of them has to come: this only saves time.
const LIMIT: Duration = Duration::from_secs(20);
/// How long a machine that is there takes to accept a connection, or to refuse it.
const NEAR: Duration = Duration::from_millis(500);

/// Lets another master's API server be ready first, where one is about to be.
pub(super) struct ApiTurn {
    others: Vec<(SocketAddr, Probe)>,
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
        let other = |master: &Node| {
            let address = SocketAddr::new(master.ip, cluster.api().port);
            (address, Probe::api_server(api_url(cluster, master), ca.to_owned()))
        };
        Self { others: others.map(other).collect(), since: OnceLock::new() }
    }

    /// Whether one of the others is about to be ready: its machine is there, and no API server is ready yet.
    async fn is_one_coming(&self, host: &Host) -> Result<bool, StepError> {
        let mut is_one_there = false;
        for (address, probe) in &self.others {
            if probe.look(host).await? == Health::Good {
                return Ok(false);
            }
            is_one_there |= is_there(*address).await;
        }
        Ok(is_one_there)
    }
}

/// A machine that is switched on refuses what nobody listens for; one that is off says nothing.
async fn is_there(address: SocketAddr) -> bool {
    match timeout(NEAR, TcpStream::connect(address)).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => error.kind() == ErrorKind::ConnectionRefused,
        Err(_) => false,
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
            || !self.is_one_coming(host).await?;
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

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_machine_is_there_whether_somebody_listens_or_not() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        assert!(is_there(address).await);
        drop(listener);
        assert!(is_there(address).await, "refused");
    }
}
