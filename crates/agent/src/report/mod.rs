//! Reports to the masters how this node is doing: every few seconds, and at once when something changes in its run.
//!
//! ```text
//! no certificate yet   early      proves itself with its sealed secret or the token of cluster.yaml, as it will to join
//! a worker             certified  shows the certificate it got when it joined
//! a master             certified  has the cluster's CA at hand and signs one for its agent, in memory
//! ```
//! A report that does not get through is worth no more than a line in the log: the next one says all of it again.

mod early;
mod interval;
mod own;
mod status;

use jiff::{SignedDuration, Timestamp};
use join::Member;
use operations::outage::Outage;
use spec::ports;

pub(crate) use self::own::sign;
pub use self::status::Status;
use crate::{Agent, AgentError, ca, session};
use nodekit::kubeconfig::Identity;

/// A master's agent signs itself a new certificate long before the old one ends.
const OWN_USED: SignedDuration = SignedDuration::from_hours(24);

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let path = agent.paths.kubernetes_dir.join(if agent.is_master() { "pki/ca.key" } else { "agent.conf" });
    let text = tokio::select! {
        biased;
        text = session::wait_for(&agent.host, &path) => text?,
        ended = early::run(agent) => return ended,
    };
    if agent.is_master() {
        let (identity, end) = (sign(agent)?, agent.host.clock.now() + OWN_USED);
        let ca = ca::file(agent);
        return tokio::select! {
            ended = certified(agent, &identity, |now| now >= end) => ended,
            replaced = session::until_changed(&agent.host, &ca, &identity.ca) => replaced,
        };
    }
    let identity = Identity::read(&text).map_err(|source| AgentError::Kubeconfig { path: path.clone(), source })?;
    tokio::select! {
        ended = certified(agent, &identity, |_| false) => ended,
        renewed = session::until_changed(&agent.host, &path, &text) => renewed,
    }
}

async fn certified(agent: &Agent, identity: &Identity, is_over: impl Fn(Timestamp) -> bool) -> Result<(), AgentError> {
    let shown = (identity.certificate.as_str(), identity.key.as_str());
    let member = Member::new(agent.masters(ports::JOIN), &identity.ca, shown)?;
    let mut outage = Outage::new("report to the masters");
    while !is_over(agent.host.clock.now()) {
        let status = status::check(agent, &outage).await?;
        match member.report(&status).await {
            Ok(heard) => {
                outage.over();
                agent.ca.hear(heard, agent.host.clock.now());
            }
            Err(error) => outage.failed(&explain::chain(&error)),
        }
        interval::until_changed_or_due(|| status::last_run(agent), &status.run).await;
    }
    Ok(())
}
