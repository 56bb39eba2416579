//! Nodes worked on in place, the cluster's side: the controller of `ipb-system`, without its Deployment.
//!
//! It works while there is a `ConfigMap` `ipb-agents`, which `blackstart reprovision manifests --agents` brings with kinds and
//! rights. Without it all this does is to look for it, every ten seconds. All masters run it and one of them works: it holds the
//! Lease that the Deployment's pods would hold, so where there are both one of all these works. A master that is stopped gives the Lease back;
//! one that is lost is followed by another after a minute; one that is the only one goes on after its reboot.
//!
//! The controller acts as the account of that Deployment, which the agent impersonates. So the same roles and policies hold for it,
//! and its own rights, which are all, are no help to a mistake.

use std::{future::pending, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use operations::{outage::Outage, slots::Limit};
use tokio::time::sleep;
use upgrades::{
    controller::{Options, run_with},
    names,
};

use crate::{Agent, AgentError, error::why, session};

/// Between two looks at whether there is something to do at all.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// The same while that cannot be seen: after the reboot of the only master somebody may wait for it.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    let path = session::kubeconfig(agent);
    let text = session::wait_for(&agent.host, &path).await?;
    let own = kubeapi::connect(&text).await?;
    let controller = kubeapi::connect_as(&text, &names::controller_account()).await?;
    tokio::select! {
        () = follow(agent, own, controller) => Ok(()),
        changed = session::until_changed(&agent.host, &path, &text) => changed,
    }
}

async fn follow(agent: &Agent, own: Client, controller: Client) {
    let settings = Settings { configs: Api::namespaced(own, names::NAMESPACE) };
    let mut outage = Outage::new("read ConfigMap ipb-agents");
    loop {
        match settings.read().await {
            Ok(None) => outage.over(),
            Ok(Some(max_unavailable)) => {
                outage.over();
                let held = agent.holds.token();
                let identity = format!("agent-{}", agent.node.name);
                let options = Options { identity, max_unavailable, commits: true };
                let stop = async {
                    tokio::select! {
                        () = agent.cancel.cancelled() => {}
                        () = settings.until_other(max_unavailable) => {}
                    }
                };
                run_with(controller.clone(), options, stop).await;
                drop(held);
                tracing::info!("the controller has ended");
            }
            Err(error) => {
                outage.failed(&error);
                sleep(AFTER_FAILURE).await;
                continue;
            }
        }
        if agent.cancel.is_cancelled() {
            // The agent ends in a moment.
            return pending().await;
        }
        sleep(CHECK_INTERVAL).await;
    }
}

/// Whether the agents are to do the work, and how many nodes at once.
struct Settings {
    configs: Api<ConfigMap>,
}

impl Settings {
    async fn read(&self) -> Result<Option<Limit>, String> {
        let found = self.configs.get_opt(names::AGENTS).await.map_err(|error| why(&error))?;
        found.map(|found| limit(&found)).transpose()
    }

    /// What cannot be read now changes nothing.
    async fn until_other(&self, known: Limit) {
        loop {
            sleep(CHECK_INTERVAL).await;
            if self.read().await.is_ok_and(|now| now != Some(known)) {
                return;
            }
        }
    }
}

fn limit(settings: &ConfigMap) -> Result<Limit, String> {
    let given = settings.data.as_ref().and_then(|data| data.get(names::MAX_UNAVAILABLE));
    let Some(given) = given else { return Ok(Limit::Nodes(1)) };
    let unusable = || format!("{}: `{given}` is neither a number from 1 nor a percentage", names::MAX_UNAVAILABLE);
    Limit::parse(given.trim()).ok_or_else(unusable)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn how_many_nodes_at_once() {
        for (data, expected) in [
            (json!({}), Some(Limit::Nodes(1))),
            (json!({ "maxUnavailable": "3" }), Some(Limit::Nodes(3))),
            (json!({ "maxUnavailable": "10%\n" }), Some(Limit::Percent(10))),
            (json!({ "maxUnavailable": "none" }), None),
        ] {
            let settings = serde_json::from_value(json!({ "data": data })).unwrap();
            assert_eq!(limit(&settings).ok(), expected, "{data}");
        }
    }
}
