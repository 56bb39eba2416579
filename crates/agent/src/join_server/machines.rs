//! Which machine is which node, from the machine ids that kubelets report, and which nodes there are.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use join::{
    machine_id,
    server::{Answer, KnownMachine, KnownMachines, NotReady},
};
use kube::{Api, Client, api::ListParams};
use tokio::sync::{Mutex, watch};

use crate::node_object::NodeObject;

/// Anybody may ask for owners, so the API is asked for all nodes no more often than this.
const FRESH: Duration = Duration::from_secs(5);

/// Nodes per page: they are large.
const PAGE: u32 = 50;

/// Machines by their id.
pub(super) struct Machines {
    client: watch::Receiver<Option<Client>>,
    known: Mutex<Option<Known>>,
}

struct Known {
    since: Instant,
    /// Ids by node.
    machines: BTreeMap<String, String>,
}

impl Machines {
    pub(super) fn new(client: watch::Receiver<Option<Client>>) -> Self {
        Self { client, known: Mutex::new(None) }
    }

    async fn list(&self) -> Result<BTreeMap<String, String>, NotReady> {
        let client = self.client.borrow().clone().ok_or(NotReady)?;
        let nodes: Api<NodeObject> = Api::all(client);
        let mut machines = BTreeMap::new();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let list = nodes.list(&page).await.map_err(|error| {
                tracing::debug!(%error, "the nodes could not be listed");
                NotReady
            })?;
            let next = list.metadata.continue_.clone().unwrap_or_default();
            machines.extend(list.into_iter().map(|node| (node.name().to_owned(), known(&node).id)));
            if next.is_empty() {
                return Ok(machines);
            }
            page = page.continue_token(&next);
        }
    }
}

/// A node's machine, whose id is in the form in which it is asked for; empty where the kubelet does not know it.
fn known(node: &NodeObject) -> KnownMachine {
    let id = &node.status.node_info.machine_id;
    let id = if id.is_empty() { String::new() } else { machine_id(id) };
    KnownMachine { id, ready_since: node.ready_since() }
}

impl KnownMachines for Machines {
    fn owners<'a>(&'a self, id: &'a str) -> Answer<'a, Vec<String>> {
        Box::pin(async move {
            let mut known = self.known.lock().await;
            let fresh = match known.take() {
                Some(fresh) if fresh.since.elapsed() < FRESH => fresh,
                _ => Known { since: Instant::now(), machines: self.list().await? },
            };
            let is_it = |(node, machine): (&String, &String)| (machine == id).then(|| node.clone());
            let owners = fresh.machines.iter().filter_map(is_it).collect();
            *known = Some(fresh);
            Ok(owners)
        })
    }

    /// Not from what is known: a node that registered a second ago must not be taken over for not being in the last list.
    fn of<'a>(&'a self, node: &'a str) -> Answer<'a, Option<KnownMachine>> {
        Box::pin(async move {
            let client = self.client.borrow().clone().ok_or(NotReady)?;
            let nodes: Api<NodeObject> = Api::all(client);
            match nodes.get_opt(node).await {
                Ok(found) => Ok(found.as_ref().map(known)),
                Err(error) => {
                    tracing::debug!(%error, "cannot get a Node");
                    Err(NotReady)
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn machines_are_known_as_kubelets_report_them() {
        let node = |id: &str, ready: &str| -> NodeObject {
            let ready = json!({ "type": "Ready", "status": ready, "lastTransitionTime": "2026-11-17T12:00:00Z" });
            let status = json!({ "nodeInfo": { "machineID": id }, "conditions": [ready] });
            serde_json::from_value(json!({ "metadata": { "name": "worker-01" }, "status": status })).unwrap()
        };
        let since = "2026-11-17T12:00:00Z".parse().ok();
        for (id, ready, expected, ready_since) in [
            ("abc", "True", machine_id("abc\n"), since),
            ("abc", "False", machine_id("abc"), None),
            ("abc", "Unknown", machine_id("abc"), None),
            ("", "True", String::new(), since),
        ] {
            assert_eq!(known(&node(id, ready)), KnownMachine { id: expected, ready_since }, "{ready}");
        }
    }

    #[tokio::test]
    async fn without_the_api_nothing_is_answered() {
        let machines = Machines::new(watch::channel(None).1);
        assert_eq!(machines.owners("abc").await, Err(NotReady));
        assert_eq!(machines.of("worker-01").await, Err(NotReady));
    }
}
