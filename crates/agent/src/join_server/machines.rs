//! Which machine is which node, from the machine ids that kubelets report.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use join::{
    machine_id,
    server::{Answer, KnownMachines, NotReady},
};
use kube::{Api, Client, api::ListParams};
use tokio::sync::{Mutex, watch};

use crate::node_object::NodeObject;

/// Anybody may ask, so the API is asked no more often than this.
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
    owners: BTreeMap<String, String>,
}

impl Machines {
    pub(super) fn new(client: watch::Receiver<Option<Client>>) -> Self {
        Self { client, known: Mutex::new(None) }
    }

    async fn list(&self) -> Result<BTreeMap<String, String>, NotReady> {
        let client = self.client.borrow().clone().ok_or(NotReady)?;
        let nodes: Api<NodeObject> = Api::all(client);
        let mut owners = BTreeMap::new();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let list = nodes.list(&page).await.map_err(|error| {
                tracing::debug!(%error, "the nodes could not be listed");
                NotReady
            })?;
            let next = list.metadata.continue_.clone().unwrap_or_default();
            owners.extend(list.into_iter().filter_map(|node| owner(&node)));
            if next.is_empty() {
                return Ok(owners);
            }
            page = page.continue_token(&next);
        }
    }
}

/// A node with its machine id, in the form in which it is asked for.
fn owner(node: &NodeObject) -> Option<(String, String)> {
    let id = &node.status.node_info.machine_id;
    (!id.is_empty()).then(|| (machine_id(id), node.name().to_owned()))
}

impl KnownMachines for Machines {
    fn owner<'a>(&'a self, id: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            let mut known = self.known.lock().await;
            let owners = match known.take() {
                Some(fresh) if fresh.since.elapsed() < FRESH => fresh,
                _ => Known { since: Instant::now(), owners: self.list().await? },
            };
            let owner = owners.owners.get(id).cloned();
            *known = Some(owners);
            Ok(owner)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_without_an_id_owns_nothing() {
        let node = |id: &str| -> NodeObject {
            let node = json!({ "metadata": { "name": "worker-01" }, "status": { "nodeInfo": { "machineID": id } } });
            serde_json::from_value(node).unwrap()
        };
        assert_eq!(owner(&node("abc")), Some((machine_id("abc\n"), "worker-01".to_owned())));
        assert_eq!(owner(&node("")), None);
    }

    #[tokio::test]
    async fn without_the_api_nothing_is_said() {
        let machines = Machines::new(watch::channel(None).1);
        assert_eq!(machines.owner("abc").await, Err(NotReady));
    }
}
