//! Writes its podCIDR into every Node, where addresses decide that: `kubectl` and others look there.
//!
//! Kubernetes' own allocator is switched off then. Every master does it, and all come to the same result.

use std::collections::BTreeSet;

use futures::StreamExt;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
    runtime::watcher::{Event, watcher},
};
use operations::outage::Outage;
use serde_json::{Value, json};
use spec::ValidatedCluster;

use crate::{Agent, AgentError, node_object::NodeObject, nodes, session};

/// Not the name under which labels are applied: what one name applies takes the place of all that it applied before.
const MANAGER: &str = "blackstart-pods";

/// Runs until the credentials are renewed.
pub(crate) async fn run(agent: &Agent) -> Result<(), AgentError> {
    session::with_client(agent, |client| follow(agent, client)).await
}

async fn follow(agent: &Agent, client: Client) -> Result<(), AgentError> {
    let nodes: Api<NodeObject> = Api::all(client);
    let mut stream = watcher(nodes.clone(), session::watching()).boxed();
    let mut outage = Outage::new("follow the nodes' podCIDRs");
    // Events that were under way while a Node was changed still show it as it was.
    let mut noted = BTreeSet::new();
    loop {
        let (Event::Apply(seen) | Event::InitApply(seen)) = session::next(&mut stream, &mut outage).await else {
            continue;
        };
        let Some(patch) = plan(&agent.cluster, &seen) else { continue };
        if !noted.insert(seen.metadata.uid.clone()) {
            continue;
        }
        tracing::info!(node = seen.name(), pod_cidr = %patch["spec"]["podCIDR"], "noting the node's podCIDR");
        let as_us = PatchParams::apply(MANAGER);
        match nodes.patch(seen.name(), &as_us, &Patch::Apply(patch)).await {
            // The Node was deleted in this moment, or another master was faster.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => {}
            result => drop(result.map_err(AgentError::api("note a node's podCIDR"))?),
        }
    }
}

/// What is applied to a Node that has no podCIDR yet. It can never be changed, so one that is there stays.
fn plan(cluster: &ValidatedCluster, node: &NodeObject) -> Option<Value> {
    if !node.spec.pod_cidrs.is_empty() {
        return None;
    }
    let part = nodes::part(cluster, node)?.to_string();
    Some(json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": { "name": node.name(), "uid": node.metadata.uid },
        "spec": { "podCIDR": part, "podCIDRs": [part] },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cluster;

    #[test]
    fn a_node_without_a_part_gets_that_of_its_address() {
        let node = |name: &str, address: &str, parts: &[&str]| -> NodeObject {
            serde_json::from_value(json!({
                "metadata": { "name": name, "uid": "u" }, "spec": { "podCIDRs": parts },
                "status": { "addresses": [{ "type": "InternalIP", "address": address }] },
            }))
            .unwrap()
        };
        for (node, expected) in [
            (node("worker-01", "10.0.0.21", &[]), Some("10.244.21.0/24")),
            (node("worker-01", "10.0.0.99", &[]), Some("10.244.21.0/24")),
            (node("worker-01", "10.0.0.21", &["10.244.7.0/24"]), None),
            (node("guest", "10.0.0.99", &[]), Some("10.244.99.0/24")),
            (node("guest", "10.0.0.11", &[]), None),
        ] {
            let patch = plan(&cluster(), &node);
            let part = patch.as_ref().and_then(|patch| patch["spec"]["podCIDR"].as_str());
            assert_eq!(part, expected, "{node:?}");
        }
    }
}
