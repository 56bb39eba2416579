//! One API server starts first. All of them at once write the same first objects into the same etcd, undo each other's
//! attempts, and each is ready later than one alone; what waits for the cluster needs only one. Where there is a bootstrap node it is
//! that one's: all masters wait for it, and it for the manifests that go through it.

use std::{
    io::ErrorKind,
    net::SocketAddr,
    path::Path,
    sync::OnceLock,
    time::{Duration, Instant},
};

use engine::{About, FilesOnly, Step, StepError, Verdict};
use etcd::{Initial, State};
use host::Host;
use spec::{Node, ValidatedCluster};
use tokio::{net::TcpStream, time::timeout};

use super::{api_ready::api_url, ids};
use crate::service::{Health, Probe};
use nodekit::systemd;

/// How long the others are given. None of them has to come: this only saves time.
const LIMIT: Duration = Duration::from_secs(20);
/// How long a machine that is there takes to accept a connection, or to refuse it.
const NEAR: Duration = Duration::from_millis(500);

/// Lets another master's API server be ready first, where one is about to be.
pub(super) struct ApiTurn {
    others: Vec<(SocketAddr, Probe)>,
    /// The others are there before this master's etcd is.
    joins_bootstrap: bool,
    since: OnceLock<Instant>,
}

/// Whether it is our turn.
pub(super) struct Seen {
    is_ours: bool,
}

impl ApiTurn {
    /// For a master that is not the first.
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, ca: &Path) -> Self {
        let others = cluster.control_plane().filter(|master| master.name != node.name);
        let other = |master: &Node| {
            let address = SocketAddr::new(master.ip, cluster.api().port);
            (address, Probe::api_server(api_url(cluster, master), ca.to_owned()))
        };
        let joins_bootstrap = cluster.bootstrap_node().is_some();
        Self { others: others.map(other).collect(), joins_bootstrap, since: OnceLock::new() }
    }

    /// Whether one of the others is about to be ready: its machine is there, and no API server is ready yet.
    async fn is_one_coming(&self, host: &Host) -> Result<bool, StepError> {
        let mut is_one_there = false;
        for (address, probe) in &self.others {
            if probe.check(host).await? == Health::Good {
                return Ok(false);
            }
            is_one_there |= is_there(*address).await;
        }
        Ok(is_one_there)
    }
}

/// Only initial members start at the same moment. A master that joins finds an API server, or is the one that makes it come back.
fn bootstraps_with_others(host: &Host) -> Result<bool, StepError> {
    let text = host.disk.read_optional(Path::new(etcd::INITIAL))?.unwrap_or_default();
    let initial = Initial::parse(&String::from_utf8_lossy(&text));
    Ok(initial.is_some_and(|initial| initial.state == State::New && initial.members.len() > 1))
}

/// A machine that is switched on refuses a port on which nothing listens; one that is off does not answer.
async fn is_there(address: SocketAddr) -> bool {
    match timeout(NEAR, TcpStream::connect(address)).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => error.kind() == ErrorKind::ConnectionRefused,
        Err(_) => false,
    }
}

impl Step for ApiTurn {
    type Seen = Seen;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(
            ids::API_TURN,
            "Let the first API server start",
            "one alone is ready sooner than several that hinder each other",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let is_over = self.since.get_or_init(Instant::now).elapsed() > LIMIT;
        let is_ours = is_over
            || !(self.joins_bootstrap || bootstraps_with_others(host)?)
            || systemd::check(host, "kube-apiserver.service").await?.is_up()
            || !self.is_one_coming(host).await?;
        Ok(Seen { is_ours })
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        if seen.is_ours {
            return Verdict::Met;
        }
        let what = format!("the API server of another master, for at most {} s", LIMIT.as_secs());
        Verdict::Waiting { progress: String::new(), what }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs};

    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn only_those_wait_who_bootstrap_together() {
        let members = |names: &[&str]| -> BTreeMap<String, String> {
            names.iter().map(|name| ((*name).to_owned(), "https://10.0.0.1:2380".to_owned())).collect()
        };
        let bootstrapping = |names| Initial { members: members(names), state: State::New, machines: BTreeMap::new() };
        for (initial, expected) in [
            (None, false),
            (Some(bootstrapping(&["a"])), false),
            (Some(bootstrapping(&["a", "b"])), true),
            (Some(Initial::joining(members(&["a", "b"]))), false),
        ] {
            let root = tempfile::tempdir().unwrap();
            if let Some(initial) = &initial {
                fs::create_dir_all(root.path().join("var/lib/etcd")).unwrap();
                fs::write(root.path().join(&etcd::INITIAL[1..]), initial.text()).unwrap();
            }
            assert_eq!(bootstraps_with_others(&Host::rooted(root.path())).unwrap(), expected, "{initial:?}");
        }
    }

    #[tokio::test]
    async fn a_machine_is_there_whether_a_process_listens_or_not() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        assert!(is_there(address).await);
        drop(listener);
        assert!(is_there(address).await, "refused");
    }
}
