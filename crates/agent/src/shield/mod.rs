//! Keeps pods away from the join service: what they send to its port is dropped on the node they run on.
//!
//! A pod that leaves its node does so under the node's address, and to a master it would look like the node itself. So the
//! rule is where the pod still has its own address: in the node's packet filter, before addresses are exchanged, for what is
//! passed on to other machines and for what is meant for this one. It holds whatever the network add-on is.
//!
//! Like the routes it is compared with what is wanted every few seconds, and loaded again where it was removed.

mod table;

use std::time::Duration;

use operations::outage::Outage;
use tokio::time::interval;

use crate::{Agent, AgentError};

/// The table is compared this often. At the start it comes before any pod.
const COMPARE: Duration = Duration::from_secs(15);

/// Runs for ever.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let mut outage = Outage::new("keep pods away from the join service");
    let mut compare = interval(COMPARE);
    loop {
        compare.tick().await;
        match raise(agent).await {
            Ok(()) => outage.over(),
            Err(error) => outage.failed(&explain::chain(&error)),
        }
    }
}

async fn raise(agent: &Agent) -> Result<(), AgentError> {
    let pods = agent.cluster.networking().pod_cidr;
    // A listing that fails means that there is no table, or no nft, which loading will report.
    let listing = agent.host.commands.run(&table::list()).await.map(|printed| printed.stdout);
    if listing.is_ok_and(|listing| table::is_loaded(&listing, pods)) {
        return Ok(());
    }
    agent.host.commands.run(&table::load(pods)).await?;
    tracing::info!(%pods, "pods are kept away from the join service");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{Scripted, agent};

    #[tokio::test]
    async fn loaded_where_it_is_not_and_left_alone_where_it_is() {
        let commands = Arc::new(Scripted::default());
        let agent = agent("worker-01", &commands);
        assert!(raise(&agent).await.is_err(), "without nft");
        commands.ran();
        commands.answer("nft -f -", "");
        raise(&agent).await.unwrap();
        assert_eq!(commands.ran(), ["nft list table inet blackstart-shield", "nft -f -"]);
        commands.answer("nft list table inet blackstart-shield", &table::wanted(agent.cluster.networking().pod_cidr));
        raise(&agent).await.unwrap();
        assert_eq!(commands.ran(), ["nft list table inet blackstart-shield"]);
    }
}
