//! Which units must be restarted to see their new certificate. Pure but for `outdated`, which looks.
//!
//! Found in the sources of Kubernetes 1.36.3 and etcd 3.7: everything that is given certificates as *files* reads them
//! again by itself.
//! - kube-apiserver: its serving certificate and the aggregator's client certificate are dynamic contents of files; the
//!   kubelet client is made with `ReloadTLSFiles`; the etcd client reads its files in `GetClientCertificate`.
//! - etcd reads its files in `GetCertificate` and `GetClientCertificate`, that is at every handshake.
//! - the kubelet renews and reloads its own.
//!
//! What has its certificate *inside a kubeconfig* reads it once: kube-controller-manager, kube-scheduler, kube-proxy. And
//! the CA in a kubeconfig is read once by everybody, the kubelet too. The key with which kube-controller-manager
//! signs tokens of Secrets is read once as well.

use std::{collections::BTreeMap, path::Path};

use host::Cmd;
use jiff::{SignedDuration, Timestamp};

use crate::{
    Agent, AgentError,
    systemd::{self, Unit},
};

/// A file, and the unit that reads it only when it starts.
pub const READ_ONCE: &[(&str, &str)] = &[
    ("controller-manager.conf", "kube-controller-manager.service"),
    ("pki/sa.key", "kube-controller-manager.service"),
    ("scheduler.conf", "kube-scheduler.service"),
    ("kube-proxy.conf", "kube-proxy.service"),
    ("kubelet.conf", KUBELET),
];

/// Renews its own certificates.
pub(super) const KUBELET: &str = "kubelet.service";

/// Those of these units on this machine whose process is older than its file, whatever wrote that and whenever: so a restart
/// that a crash prevented is made up for.
pub(crate) async fn outdated(agent: &Agent, read: &[(&str, &'static str)]) -> Result<Vec<&'static str>, AgentError> {
    let mut units: Vec<&str> = read.iter().map(|(_, unit)| *unit).collect();
    units.dedup();
    let units = systemd::units(agent, &units).await?;
    let mut written = BTreeMap::new();
    for (file, _) in read {
        let path = agent.paths.kubernetes_dir.join(file);
        if agent.host.disk.exists(&path)? {
            let printed = agent.host.commands.run(&stat(&path)).await?.stdout;
            let time = instant(&printed).ok_or_else(|| AgentError::Output { command: "stat".into(), why: printed })?;
            written.insert(*file, time);
        }
    }
    Ok(older_than_file(read, &written, &units, agent.host.clock.now()))
}

/// Prints when a file was put in its place. Not when it was written: that is earlier, and a process that starts between
/// the two reads the old one.
fn stat(path: &Path) -> Cmd {
    Cmd::new("stat").arg("--format=%.6Z").arg(path)
}

/// `1794860873.160123`.
fn instant(printed: &str) -> Option<Timestamp> {
    let (seconds, micros) = printed.trim().split_once('.')?;
    Timestamp::new(seconds.parse().ok()?, micros.parse::<i32>().ok()? * 1000).ok()
}

/// Linux stamps files with the time of its last tick, which comes a hundred times a second at least.
const TICK: SignedDuration = SignedDuration::from_millis(10);

/// Units that run, and started before their file was put in its place. A file from the future says nothing: the clock was
/// wrong once.
fn older_than_file(
    read: &[(&str, &'static str)],
    written: &BTreeMap<&str, Timestamp>,
    units: &BTreeMap<String, Unit>,
    now: Timestamp,
) -> Vec<&'static str> {
    let is_older = |file: &str, unit: &str| {
        let (Some(&written), Some(unit)) = (written.get(file), units.get(unit)) else { return false };
        unit.state() == "active" && written <= now && unit.started.is_some_and(|started| started < written + TICK)
    };
    let mut older: Vec<_> = read.iter().filter(|(file, unit)| is_older(file, unit)).map(|(_, unit)| *unit).collect();
    older.dedup();
    older
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_running_processes_that_are_older_than_their_file() {
        let at = Timestamp::from_microsecond;
        let unit = |state: &str, micros: Option<i64>| Unit {
            active: state.to_owned(),
            started: micros.map(|micros| at(micros).unwrap()),
            ..Unit::default()
        };
        for (what, written, scheduler, expected) in [
            ("younger", 100_000, unit("active", Some(110_000)), false),
            ("younger, or older by less than a tick", 100_000, unit("active", Some(109_999)), true),
            ("older, in the same second", 100_000, unit("active", Some(99_000)), true),
            ("older but failed", 100_000, unit("failed", Some(99_000)), false),
            ("older but starting", 100_000, unit("activating", Some(99_000)), false),
            ("never started", 100_000, unit("active", None), false),
            ("a file from the future", 2_000_000, unit("active", Some(99_000)), false),
        ] {
            let (file, unit) = READ_ONCE[2];
            let written = BTreeMap::from([(file, at(written).unwrap())]);
            let units = BTreeMap::from([(unit.to_owned(), scheduler)]);
            let restarts = older_than_file(READ_ONCE, &written, &units, at(1_000_000).unwrap());
            assert_eq!(restarts, if expected { vec![unit] } else { vec![] }, "{what}");
        }
        assert_eq!(
            older_than_file(READ_ONCE, &BTreeMap::new(), &BTreeMap::new(), at(1_000_000).unwrap()),
            Vec::<&str>::new()
        );
    }
}
