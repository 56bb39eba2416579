//! Restarts of the control plane, for what reads its keys only when it starts.
//!
//! Found in the sources of etcd 3.7 and Kubernetes 1.36: certificates are read again, the pools of trusted CAs of etcd (for
//! members and clients), of the API server's etcd client and of its kubelet client are not. At the stage at which only
//! certificates change, nothing has to be restarted for them. Keys of service account tokens are read once, all that a
//! file holds. The configuration of encryption is read once, too, as long as its automatic reload is off: a process that is
//! younger than the file is a better proof that it was taken up than a minute of waiting.

use std::{net::SocketAddr, time::Duration};

use etcd::Access;
use host::Cmd;
use operations::handover::Handover;
use pki::Stage;
use tokio::time::{Instant, sleep};

use super::{Subject, Subjects};
use crate::{Agent, AgentError, ca, renewal, report};

const ETCD: &str = "etcd.service";
const API: &str = "kube-apiserver.service";
const BOTH_ENDS: &[Stage] = &[Stage::Trust, Stage::Drop];
/// Of what a rotation replaces, at which stages, the file that a unit reads once. The controller manager's is in
/// [`renewal`]: it needs an API server that signs with the new key already.
const READ: &[(Subject, &[Stage], &str, &str)] = &[
    (Subject::Ca, BOTH_ENDS, "pki/etcd/ca.crt", ETCD),
    (Subject::Ca, BOTH_ENDS, "pki/etcd/ca.crt", API),
    (Subject::Ca, BOTH_ENDS, "pki/ca.crt", API),
    (Subject::ServiceAccount, &Stage::ALL, "pki/sa.pub", API),
    (Subject::Encryption, &Stage::ALL, "encryption.yaml", API),
];

/// Longer than any of them takes on a slow machine.
const DEADLINE: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_millis(300);
/// For one answer.
const LIMIT: Duration = Duration::from_secs(5);

/// Restarts what is older than its file. While its etcd is away an API server can only fail, so it is stopped before and
/// started after it: stopped, it sends its clients elsewhere first. A member that leads hands over first.
pub(super) async fn control_plane(agent: &Agent, subjects: &Subjects, stage: Stage) -> Result<(), AgentError> {
    let read = read_once(subjects, stage);
    if read.is_empty() {
        return Ok(());
    }
    let outdated = renewal::outdated(agent, &read).await?;
    let systemctl = async |verb: &'static str, unit: &'static str| {
        tracing::info!(unit, stage = stage.name(), "{verb}: it works with other keys from now on");
        agent.host.commands.run(&Cmd::new("systemctl").args([verb, unit])).await
    };
    if outdated.contains(&API) || outdated.contains(&ETCD) {
        systemctl("stop", API).await?;
    }
    if outdated.contains(&ETCD) {
        lead_elsewhere(agent).await;
        systemctl("restart", ETCD).await?;
    }
    await_well(agent, ETCD).await?;
    // Also where an agent that was killed has left it stopped.
    systemctl("start", API).await?;
    await_well(agent, API).await
}

/// Lets another member lead if this master's does.
async fn lead_elsewhere(agent: &Agent) {
    match hand_over(agent).await {
        Ok(Some(member)) => tracing::info!(member = format!("{member:x}"), "another member of etcd leads from now on"),
        Ok(None) => {}
        Err(error) => tracing::warn!(error = explain::chain(&error), "etcd's leader restarts without a successor"),
    }
}

/// At each stage all masters believe what signs here, and show what is
/// believed here: the stage before was reached by every node.
async fn hand_over(agent: &Agent) -> Result<Option<u64>, AgentError> {
    let access = Access::read(&*agent.host.disk, &agent.paths.kubernetes_dir)?;
    let Some(handover) = Handover::away_from(&agent.node, &agent.cluster, &access).await else { return Ok(None) };
    let identity = report::sign(agent)?;
    let others = handover.others(&identity.ca, (&identity.certificate, &identity.key))?;
    Ok(Some(handover.run(&others).await?))
}

/// The files that a stage replaces and a unit reads once.
fn read_once(subjects: &Subjects, stage: Stage) -> Vec<(&'static str, &'static str)> {
    let rows = READ.iter().filter(|(subject, stages, ..)| subjects.contains(subject) && stages.contains(&stage));
    rows.map(|(.., file, unit)| (*file, *unit)).collect()
}

async fn await_well(agent: &Agent, unit: &'static str) -> Result<(), AgentError> {
    let until = Instant::now() + DEADLINE;
    loop {
        let why = match unit {
            ETCD => etcd_failure(agent).await,
            _ => api_failure(agent).await,
        };
        match why {
            None => return Ok(()),
            Some(why) if Instant::now() > until => return Err(AgentError::NotWell { unit, why }),
            Some(_) => sleep(PAUSE).await,
        }
    }
}

/// `None` if this member answers and takes part in a majority.
async fn etcd_failure(agent: &Agent) -> Option<String> {
    let access = match Access::read(&*agent.host.disk, &agent.paths.kubernetes_dir) {
        Ok(access) => access,
        Err(error) => return Some(explain::chain(&error)),
    };
    let asked = access.member(etcd::client_url(agent.node.ip)).members().await;
    asked.err().map(|error| explain::chain(&error))
}

/// `None` if this API server is ready.
async fn api_failure(agent: &Agent) -> Option<String> {
    let asked = async {
        let ca = agent.host.disk.read(&ca::file(agent)).map_err(|error| explain::chain(&error))?;
        let client = tls::client(&String::from_utf8_lossy(&ca), None).map_err(|error| explain::chain(&error))?;
        let api = SocketAddr::new(agent.node.ip, agent.cluster.api().port);
        let answer = client.get(format!("https://{api}/readyz")).timeout(LIMIT).send().await;
        let answer = answer.map_err(|error| explain::chain(&error))?;
        if answer.status().is_success() { Ok(()) } else { Err(format!("/readyz answers {}", answer.status())) }
    };
    asked.await.err()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_stage_restarts_only_what_reads_a_file_once() {
        use Subject::{Backup, Ca, Encryption, Join, ServiceAccount};
        let (both, api, none): (&[&str], &[&str], &[&str]) = (&[ETCD, API], &[API], &[]);
        for (subjects, expected) in [
            (vec![Ca], [both, none, both]),
            (vec![ServiceAccount], [api, api, api]),
            (vec![Encryption], [api, api, api]),
            (vec![Join], [none; 3]),
            (vec![Backup], [none; 3]),
            (vec![Ca, ServiceAccount], [both, api, both]),
            (Subject::ALL.to_vec(), [both, api, both]),
        ] {
            let subjects: Subjects = subjects.into_iter().collect();
            for (stage, expected) in Stage::ALL.into_iter().zip(expected) {
                let units: BTreeSet<&str> = read_once(&subjects, stage).into_iter().map(|(_, unit)| unit).collect();
                assert_eq!(units, expected.iter().copied().collect(), "{subjects:?} at {stage:?}");
            }
        }
    }
}
