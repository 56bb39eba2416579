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

/// Longer than a hold may take, and short enough to leave the other masters' holds time for what follows.
const DEADLINE: Duration = Duration::from_secs(1);

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
    let heard = survey::ask(&access, masters).await;
    let Some(member) = etcd::successor(&heard, &agent.node.name) else { return Ok(None) };
    // Whose etcd is silent writes nothing, and would only be waited for.
    let answers = |name: &str| heard.iter().any(|one| one.name == name && one.reported.is_ok());
    let others = others(agent, answers)?;
    hold(&others, true).await;
    let led = access.member(etcd::client_url(agent.node.ip)).lead_by(member).await;
    hold(&others, false).await;
    led?;
    Ok(Some(member))
}

/// The join services of the other masters, as far as they are to be asked. This one's API server is stopped. At each stage
/// all of them believe what signs here, and show what is believed here: the stage before was reached by every node.
fn others(agent: &Agent, is_asked: impl Fn(&str) -> bool) -> Result<Vec<(SocketAddr, Member)>, AgentError> {
    let identity = report::sign(agent)?;
    let shown = (identity.certificate.as_str(), identity.key.as_str());
    let others = agent.cluster.masters().filter(|master| master.name != agent.node.name && is_asked(&master.name));
    let member = |ip| {
        let address = SocketAddr::new(ip, ports::JOIN);
        Ok((address, Member::new(vec![address], &identity.ca, shown)?))
    };
    others.map(|master| member(master.ip)).collect()
}

/// All at once. One that does not answer in time may still begin to hold afterwards; that ends by itself.
async fn hold(others: &[(SocketAddr, Member)], hold: bool) {
    join_all(others.iter().map(|(master, member)| async move {
        match timeout(DEADLINE, member.hold(hold)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%master, hold, error = explain::chain(&error), "writes are not held back"),
            Err(_) => tracing::warn!(%master, hold, "no answer to the wish to hold writes back"),
        }
    }))
    .await;
}
