//! Before this master's etcd restarts: another member leads, and no write is lost on the way.
//!
//! ```text
//! this member leads ─► every other master holds its writes back ─► another one leads ─► they go on
//! ```
//! Where it does not work out, etcd hands over by itself when it stops, and a write that is on its way at that very moment
//! may fail. That is no reason to stop a rotation half-way.

use std::{net::SocketAddr, time::Duration};

use etcd::{Access, survey};
use futures::future::join_all;
use join::Member;
use spec::ports;
use tokio::time::timeout;

use crate::{Agent, AgentError, report};

/// Shorter than the hold itself.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Lets another member lead if this master's does.
pub(super) async fn away_from(agent: &Agent) {
    match hand_over(agent).await {
        Ok(Some(member)) => tracing::info!(member = format!("{member:x}"), "another member of etcd leads from now on"),
        Ok(None) => {}
        Err(error) => tracing::warn!(error = explain::chain(&error), "etcd's leader restarts without a successor"),
    }
}

async fn hand_over(agent: &Agent) -> Result<Option<u64>, AgentError> {
    let access = Access::read(&*agent.host.disk, &agent.paths.kubernetes_dir)?;
    let masters = agent.cluster.masters().map(|master| (master.name.clone(), etcd::client_url(master.ip)));
    let Some(member) = etcd::successor(&survey::ask(&access, masters).await, &agent.node.name) else {
        return Ok(None);
    };
    let others = others(agent)?;
    hold(&others, true).await;
    let led = access.member(etcd::client_url(agent.node.ip)).lead_by(member).await;
    hold(&others, false).await;
    led?;
    Ok(Some(member))
}

/// The join services of the other masters. This one's API server is stopped.
fn others(agent: &Agent) -> Result<Vec<(SocketAddr, Member)>, AgentError> {
    let identity = report::sign(agent)?;
    let shown = (identity.certificate.as_str(), identity.key.as_str());
    let others = agent.masters(ports::JOIN).into_iter().filter(|address| address.ip() != agent.node.ip);
    others.map(|address| Ok((address, Member::new(vec![address], &identity.ca, shown)?))).collect()
}

/// All at once. One that does not answer may well be gone, and the others need not wait for it.
async fn hold(others: &[(SocketAddr, Member)], hold: bool) {
    join_all(others.iter().map(|(master, member)| async move {
        match timeout(PATIENCE, member.hold(hold)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%master, hold, error = explain::chain(&error), "writes are not held back"),
            Err(_) => tracing::warn!(%master, hold, "no answer to the wish to hold writes back"),
        }
    }))
    .await;
}
