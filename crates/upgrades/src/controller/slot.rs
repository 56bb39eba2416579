//! The slot of a node: held in the cluster for as long as the node is taken away from it.

use std::time::Duration;

use operations::slots::{Attempt, Held, Limit, Pool, Slots};
use tokio::time::Instant;

use super::{Controller, ControllerError, memory::OfNode};
use crate::{NodeUpgrade, names, next::SlotSeen};

/// How often a slot is kept fresh: it is others' to take after a minute.
const RENEW: Duration = Duration::from_secs(15);

/// Masters have a pool of their own: whatever the limit is, only one at a time.
fn pool(is_master: bool) -> Pool {
    let app = if is_master { "ipb-master-slot" } else { "ipb-slot" };
    Pool { namespace: names::NAMESPACE, app: app.to_owned(), prefix: format!("{app}-") }
}

impl Controller {
    /// What is known of the node's slot; one that is held is kept fresh, one that was held by an earlier process is found again.
    pub(super) async fn slot(&mut self, object: &NodeUpgrade, is_master: bool) -> Result<SlotSeen, ControllerError> {
        let (node, holds) = (object.node(), object.status.phase.holds_slot());
        let of_node = self.memory.of(node);
        if let Some((mut held, renewed)) = of_node.held.take() {
            if renewed.elapsed() < RENEW {
                of_node.held = Some((held, renewed));
                return Ok(SlotSeen::Held);
            }
            if held.renew().await? {
                of_node.held = Some((held, Instant::now()));
                return Ok(SlotSeen::Held);
            }
            tracing::warn!(node, "its slot was taken over");
        }
        if holds {
            return match self.take_slot(node, is_master).await? {
                None => Ok(SlotSeen::Held),
                Some(holders) => Ok(SlotSeen::Full(holders)),
            };
        }
        let of_node = self.memory.of(node);
        Ok(of_node.holders().map_or(SlotSeen::Free, |holders| SlotSeen::Full(holders.to_owned())))
    }

    /// Takes one; else who holds them all.
    pub(super) async fn take_slot(&mut self, node: &str, is_master: bool) -> Result<Option<String>, ControllerError> {
        let limit = if is_master { Limit::Nodes(1) } else { self.options.max_unavailable };
        let client = self.client.clone();
        let of_node = self.memory.of(node);
        let slots = of_node.slots.get_or_insert_with(|| Slots::new(&client, pool(is_master), node, limit));
        match slots.take(0).await? {
            Attempt::Got(held) => {
                hold(of_node, *held);
                Ok(None)
            }
            Attempt::Full(holders) => {
                let holders = holders.to_string();
                of_node.full = Some((holders.clone(), Instant::now()));
                Ok(Some(holders))
            }
            Attempt::Outrun => Ok(Some("taken by another node a moment ago".to_owned())),
        }
    }

    /// Gives it back, whichever process has taken it.
    pub(super) async fn release_slot(&mut self, node: &str, is_master: bool) -> Result<(), ControllerError> {
        let client = self.client.clone();
        let limit = self.options.max_unavailable;
        let of_node = self.memory.of(node);
        let slots = of_node.slots.get_or_insert_with(|| Slots::new(&client, pool(is_master), node, limit));
        let held = match of_node.held.take() {
            Some((held, _)) => Some(held),
            None => slots.left_behind().await?,
        };
        if let Some(held) = held {
            held.release().await?;
        }
        Ok(())
    }
}

fn hold(of_node: &mut OfNode, held: Held) {
    of_node.full = None;
    of_node.held = Some((held, Instant::now()));
}
