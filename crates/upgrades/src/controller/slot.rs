//! The slot of a node: held in the cluster for as long as the node is taken away from it.

use std::time::Duration;

use operations::slots::{Attempt, Held, Limit, Pool, Slots};
use tokio::time::Instant;

use super::{Controller, ControllerError, memory::NodeMemory, precondition::Went};
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
        let (node, holds) = (object.node(), object.status.holds_slot());
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
        if self.find_slot(node, is_master).await? {
            return Ok(SlotSeen::Held);
        }
        let of_node = self.memory.of(node);
        Ok(of_node.holders().map_or(SlotSeen::Free, |holders| SlotSeen::Full(holders.to_owned())))
    }

    /// The slot that an earlier process has left is searched for before anything is decided, and once: what is released is what was
    /// seen.
    async fn find_slot(&mut self, node: &str, is_master: bool) -> Result<bool, ControllerError> {
        if self.memory.of(node).is_searched {
            return Ok(false);
        }
        let found = self.slots(node, is_master).left_behind().await?;
        let of_node = self.memory.of(node);
        of_node.is_searched = true;
        of_node.held = found.map(|held| (held, Instant::now()));
        Ok(of_node.held.is_some())
    }

    /// Takes one, or renews the one that is held, which changes its version: another controller that wants to release it has not seen that.
    pub(super) async fn renew_slot(&mut self, node: &str, is_master: bool) -> Result<Went, ControllerError> {
        if let Some((mut held, _)) = self.memory.of(node).held.take()
            && held.renew().await?
        {
            hold(self.memory.of(node), held);
            return Ok(Went::On);
        }
        Ok(if self.take_slot(node, is_master).await?.is_none() { Went::On } else { Went::Stop })
    }

    /// Takes one; else who holds them all.
    async fn take_slot(&mut self, node: &str, is_master: bool) -> Result<Option<String>, ControllerError> {
        let taken = self.slots(node, is_master).take(0).await?;
        let of_node = self.memory.of(node);
        let holders = match taken {
            Attempt::Got(held) => {
                hold(of_node, *held);
                return Ok(None);
            }
            Attempt::Full(holders) => holders.to_string(),
            Attempt::Outrun => "taken by another node a moment ago".to_owned(),
        };
        of_node.full = Some((holders.clone(), Instant::now()));
        Ok(Some(holders))
    }

    fn slots(&mut self, node: &str, is_master: bool) -> &mut Slots {
        let limit = if is_master { Limit::Nodes(1) } else { self.options.max_unavailable };
        let of_node = self.memory.of(node);
        of_node.slots.get_or_insert_with(|| Slots::new(&self.client, pool(is_master), node, limit))
    }

    /// Gives back the one that was seen.
    pub(super) async fn release_slot(&mut self, node: &str) -> Result<(), ControllerError> {
        if let Some((held, _)) = self.memory.of(node).held.take() {
            held.release().await?;
        }
        Ok(())
    }
}

fn hold(of_node: &mut NodeMemory, held: Held) {
    of_node.full = None;
    of_node.held = Some((held, Instant::now()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        NodeUpgradeSpec, Phase,
        controller::testing::{Server, controller},
    };

    fn object(node: &str, phase: Phase) -> NodeUpgrade {
        let mut object = NodeUpgrade::new(node, NodeUpgradeSpec::default());
        object.status.phase = phase;
        object
    }

    #[tokio::test]
    async fn where_all_slots_are_held_the_turn_stops_and_says_who_holds_them() {
        let server = Server::default();
        let client = server.serve().await;
        let mut one = controller(&client);
        assert_eq!(one.renew_slot("w1", false).await.unwrap(), Went::On);
        assert_eq!(one.renew_slot("w2", false).await.unwrap(), Went::Stop);
        let seen = one.slot(&object("w2", Phase::Pending), false).await.unwrap();
        assert_eq!(seen, SlotSeen::Full("1 of 1: w1".to_owned()));
        one.release_slot("w1").await.unwrap();
        assert_eq!(one.renew_slot("w2", false).await.unwrap(), Went::On);
    }

    #[tokio::test]
    async fn a_node_that_is_still_away_gets_its_slot_back() {
        let server = Server::default();
        let client = server.serve().await;
        let mut retried = object("w1", Phase::Pending);
        let seen = controller(&client).slot(&retried, false).await.unwrap();
        assert_eq!((seen, server.with(|held| held.leases.len())), (SlotSeen::Free, 0), "it was never taken away");
        retried.status.snapshot = Some(operations::node_snapshot::NodeSnapshot::default());
        let seen = controller(&client).slot(&retried, false).await.unwrap();
        assert_eq!((seen, server.with(|held| held.leases.len())), (SlotSeen::Held, 1));
    }

    /// It was stopped between its observation and its release, and the node was taken away once more meanwhile.
    #[tokio::test]
    async fn a_slot_that_was_renewed_since_it_was_seen_is_not_released() {
        let server = Server::default();
        let client = server.serve().await;
        let (mut stopped, mut leads) = (controller(&client), controller(&client));
        assert_eq!(leads.renew_slot("w1", false).await.unwrap(), Went::On);
        let seen = stopped.slot(&object("w1", Phase::Refused), false).await.unwrap();
        assert_eq!(seen, SlotSeen::Held, "that of the other process is found");
        assert_eq!(leads.renew_slot("w1", false).await.unwrap(), Went::On);
        stopped.release_slot("w1").await.unwrap();
        assert_eq!(server.with(|held| held.leases.len()), 1);
        leads.release_slot("w1").await.unwrap();
        assert_eq!(server.with(|held| held.leases.len()), 0);
    }
}
