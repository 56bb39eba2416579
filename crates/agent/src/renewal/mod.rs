//! Renews certificates when two thirds of their life are over, and restarts what does not read them again by itself.
//!
//! A master signs its own, as the PKI's table says. A worker asks a master's join service with the certificate it still
//! has; its kubelet looks after itself. Both then restart the units in `restart::READ_ONCE` whose process is older than
//! its file. That comparison is the only memory: whatever was interrupted is found at the next look.

mod restart;

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    path::PathBuf,
    time::Duration,
};

use host::{Change, Cmd, Content};
use jiff::Timestamp;
use join::{Member, Pair};
use pki::{Existing, Input, Shared, Which};
use secrecy::ExposeSecret;
use spec::ports;
use tokio::time::sleep;

pub use self::restart::READ_ONCE;
use crate::{Agent, AgentError, kubeconfig::Identity};

/// Between two looks; a certificate has months left when it is due.
const LOOK: Duration = Duration::from_hours(1);

/// Nodes that were installed together are not to come to the masters together.
const SPREAD_SECONDS: u64 = 600;

/// Looks at once, and then every hour.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    loop {
        look(agent).await?;
        sleep(LOOK + spread(&agent.node.name)).await;
    }
}

async fn look(agent: &Agent) -> Result<(), AgentError> {
    if agent.is_master() {
        sign_own(agent)?;
    } else {
        ask_for_own(agent).await?;
    }
    for unit in restart::outdated(agent).await? {
        tracing::info!(unit, "restarting: its certificate was renewed");
        agent.host.commands.run(&Cmd::new("systemctl").args(["restart", unit])).await?;
    }
    Ok(())
}

/// A master's certificates, signed by the authorities on this machine.
fn sign_own(agent: &Agent) -> Result<(), AgentError> {
    let existing = Existing::read(&*agent.host.disk, &agent.paths.kubernetes_dir)?;
    // Whatever is missing is the bootstrap's business, and what all masters share is never made here.
    let input = Input::new(&agent.cluster, &agent.node, Shared::Bring);
    let changes = pki::renewal(&existing, &input, agent.host.clock.now(), Which::Due)?;
    apply(agent, &changes)
}

/// A worker's, asked for with the certificate it still has.
async fn ask_for_own(agent: &Agent) -> Result<(), AgentError> {
    let now = agent.host.clock.now();
    // The agent's own last: while it is old, the next look asks again for what a crash kept from being written.
    let (Some(proxy), Some(own)) = (Held::read(agent, "kube-proxy.conf")?, Held::read(agent, "agent.conf")?) else {
        return Ok(()); // not joined yet
    };
    if !proxy.is_due(now)? && !own.is_due(now)? {
        return Ok(());
    }
    let identity = (own.identity.certificate.as_str(), own.identity.key.as_str());
    let renewed = Member::new(agent.masters(ports::JOIN), &own.identity.ca, identity)?.renew(&agent.node.name).await?;
    apply(agent, &[proxy.with(&renewed.ca_pem, &renewed.kube_proxy), own.with(&renewed.ca_pem, &renewed.agent)])
}

/// A kubeconfig on this node.
struct Held {
    path: PathBuf,
    text: String,
    identity: Identity,
}

impl Held {
    fn read(agent: &Agent, name: &str) -> Result<Option<Self>, AgentError> {
        let path = agent.paths.kubernetes_dir.join(name);
        let Some(text) = agent.host.disk.read_optional(&path)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&text).into_owned();
        let identity = Identity::of_file(&path, &text)?;
        Ok(Some(Self { path, text, identity }))
    }

    fn is_due(&self, now: Timestamp) -> Result<bool, AgentError> {
        self.identity.is_due(now).map_err(|source| AgentError::Kubeconfig { path: self.path.clone(), source })
    }

    fn with(&self, ca: &str, pair: &Pair) -> Change {
        let (certificate, key) = (pair.cert_pem.clone(), pair.key_pem.expose_secret().to_owned());
        let text = self.identity.replace(&self.text, &Identity { certificate, key, ca: ca.to_owned() });
        Change::File { path: self.path.clone(), mode: 0o600, content: Content::Secret(text.into_bytes()) }
    }
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
