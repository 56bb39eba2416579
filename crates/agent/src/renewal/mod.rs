//! Renews certificates when two thirds of their life are over, and restarts what does not read them again by itself.
//!
//! A master signs its own, as the PKI's table says. A worker asks a master's join service with the certificate it still
//! has (`worker`); kubelets look after themselves, except when keys are rotated (`kubelet`, `tokens`, `replaced`). All then
//! restart the units in `restart::READ_ONCE` whose process is older than its file. That comparison is the only memory:
//! whatever was interrupted is found at the next check. A master's files are replaced under the machine's lock, because a run and
//! `pki renew` write the same ones: of two writers one's key would end beside the other's certificate.

mod kubelet;
mod replaced;
mod restart;
mod secret;
mod tokens;
mod worker;

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    time::Duration,
};

use engine::LockError;
use host::{Change, Cmd};
use pki::{Existing, Input, Shared, Which};
use tokio::time::sleep;

pub(crate) use self::restart::outdated;
pub use self::{restart::READ_ONCE, tokens::key_of_token};
use crate::{Agent, AgentError};

/// Between two checks; a certificate has months left when it is due.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// After a check that found a run at work.
const RETRY_INTERVAL: Duration = Duration::from_secs(10);

/// Nodes that were installed together are not to come to the masters together.
const SPREAD_SECONDS: u64 = 600;

/// Looks at once, then every hour, and whenever a master says that other keys are to be trusted or held.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let mut heard = agent.ca.heard.subscribe();
    loop {
        let pause = match check(agent).await? {
            Checked::All => CHECK_INTERVAL + spread(&agent.node.name),
            Checked::BesideRun => RETRY_INTERVAL,
        };
        tokio::select! {
            () = sleep(pause) => {}
            _ = heard.changed() => {}
        }
    }
}

/// How far a check came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checked {
    All,
    /// What is due waits: a run may be writing the same files.
    BesideRun,
}

async fn check(agent: &Agent) -> Result<Checked, AgentError> {
    let checked = if agent.is_master() {
        renew_own(agent)?
    } else {
        worker::ask_for_own(agent).await?;
        Checked::All
    };
    restart_outdated(agent).await?;
    replaced::follow(agent).await?;
    agent.ca.converged.send_replace(replaced::converged(agent).await?);
    Ok(checked)
}

/// Restarts what runs with an older file than there is.
pub(crate) async fn restart_outdated(agent: &Agent) -> Result<(), AgentError> {
    for unit in outdated(agent, READ_ONCE).await? {
        tracing::info!(unit, "restarting: its certificate or CA was renewed");
        agent.host.commands.run(&Cmd::new("systemctl").args(["restart", unit])).await?;
    }
    Ok(())
}

/// A master's certificates and secret.
fn renew_own(agent: &Agent) -> Result<Checked, AgentError> {
    if due(agent)?.is_empty() && secret::due(agent)?.is_none() {
        return Ok(Checked::All);
    }
    let _lock = match engine::lock_machine(&agent.host, &agent.paths.state_dir, engine::RENEWAL) {
        Err(held @ LockError::Held { .. }) => {
            tracing::info!("renewal waits: {held}");
            return Ok(Checked::BesideRun);
        }
        taken => taken?,
    };
    // Again: what held the lock until now may have done it.
    apply(agent, &due(agent)?)?;
    secret::renew_own(agent)?;
    Ok(Checked::All)
}

/// What is due of a master's certificates, signed by the CAs on this machine.
fn due(agent: &Agent) -> Result<Vec<Change>, AgentError> {
    let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir)?;
    // Whatever is missing is the bootstrap's business, and what all masters share is never made here.
    let input = Input::new(&agent.cluster, &agent.node, Shared::Bring);
    Ok(pki::renewal(&existing, &input, agent.host.clock.now(), Which::Due)?)
}

fn apply(agent: &Agent, changes: &[Change]) -> Result<(), AgentError> {
    for change in changes {
        tracing::info!("renewing: {change}");
        change.apply(&*agent.host.disk)?;
    }
    Ok(())
}

/// The same for a node every time, different from node to node.
fn spread(node: &str) -> Duration {
    let mut hasher = DefaultHasher::new();
    node.hash(&mut hasher);
    Duration::from_secs(hasher.finish() % SPREAD_SECONDS)
}

#[cfg(test)]
mod tests;
