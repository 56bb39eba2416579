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
//! the authority in a kubeconfig is read once by everybody, the kubelet too.

use std::{collections::BTreeMap, path::Path};

use host::Cmd;

use crate::{
    Agent, AgentError,
    systemd::{self, Unit},
};

/// A kubeconfig, and the unit that reads it only when it starts.
pub const READ_ONCE: &[(&str, &str)] = &[
    ("controller-manager.conf", "kube-controller-manager.service"),
    ("scheduler.conf", "kube-scheduler.service"),
    ("kube-proxy.conf", "kube-proxy.service"),
    ("kubelet.conf", KUBELET),
];

/// Renews its own certificates.
pub(super) const KUBELET: &str = "kubelet.service";

/// Those of these units on this machine whose process is older than its file, whoever wrote that and whenever: so a restart
/// that a crash prevented is made up for.
pub(crate) async fn outdated(agent: &Agent, read: &[(&str, &'static str)]) -> Result<Vec<&'static str>, AgentError> {
    let units: Vec<&str> = read.iter().map(|(_, unit)| *unit).collect();
    let units = systemd::parse(&agent.host.commands.run(&systemd::show(&units)).await?.stdout);
    let mut written = BTreeMap::new();
    for (file, _) in read {
        let path = agent.paths.kubernetes_dir.join(file);
        if agent.host.disk.exists(&path)? {
            let printed = agent.host.commands.run(&stat(&path)).await?.stdout;
            let time =
                printed.trim().parse().map_err(|_| AgentError::Output { command: "stat".into(), why: printed })?;
            written.insert(*file, time);
        }
    }
    Ok(older_than_file(read, &written, &units, agent.host.clock.now().as_second()))
}

/// Prints when a file was written, in unix seconds.
fn stat(path: &Path) -> Cmd {
    Cmd::new("stat").arg("--format=%Y").arg(path)
}

/// Units that run, and started in an earlier second than their file was written. A file from the future says nothing:
/// the clock was wrong once.
fn older_than_file(
    read: &[(&str, &'static str)],
    written: &BTreeMap<&str, i64>,
    units: &BTreeMap<String, Unit>,
    now: i64,
) -> Vec<&'static str> {
    let is_older = |file: &str, unit: &str| {
        let (Some(&written), Some(unit)) = (written.get(file), units.get(unit)) else { return false };
        unit.state == "active" && written <= now && unit.started.is_some_and(|started| started < written)
    };
    read.iter().filter(|(file, unit)| is_older(file, unit)).map(|(_, unit)| *unit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_running_processes_that_are_older_than_their_file() {
        let unit = |state: &str, started| Unit { state: state.to_owned(), started };
        for (what, written, scheduler, expected) in [
            ("younger", 100, unit("active", Some(101)), false),
            ("the same second", 100, unit("active", Some(100)), false),
            ("older", 100, unit("active", Some(99)), true),
            ("older but failed", 100, unit("failed", Some(99)), false),
            ("older but starting", 100, unit("activating", Some(99)), false),
            ("never started", 100, unit("active", None), false),
            ("a file from the future", 2000, unit("active", Some(99)), false),
        ] {
            let (file, unit) = READ_ONCE[1];
            let written = BTreeMap::from([(file, written)]);
            let restarts = older_than_file(READ_ONCE, &written, &BTreeMap::from([(unit.to_owned(), scheduler)]), 1000);
            assert_eq!(restarts, if expected { vec![unit] } else { vec![] }, "{what}");
        }
        assert_eq!(older_than_file(READ_ONCE, &BTreeMap::new(), &BTreeMap::new(), 1000), Vec::<&str>::new());
    }
}
