//! A pod takes its turn among the others: it waits for a slot, keeps it fresh and gives it back.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use kubeapi::ApiError;
use operations::slots::{Attempt, Held, Slots};
use tokio::time::{Instant, sleep, timeout};

use super::Pod;
use crate::{PodError, names};

/// Between two attempts to take a slot; every node adds up to as much.
const ATTEMPT: Duration = Duration::from_secs(5);
/// For so long a slot is waited for before the node is looked at again; then the waiting goes on.
const DEADLINE: Duration = Duration::from_mins(1);
/// Longer than that no pod keeps others waiting: the slot is given back, and the unit goes on without.
const LONGEST_HOLD: Duration = Duration::from_mins(10);
/// What the API may take while something else is waited for.
const ANSWER: Duration = Duration::from_secs(10);

impl Pod {
    /// A slot, or none within the time after which the node has to be looked at again.
    pub(super) async fn slot(&mut self) -> Option<Held> {
        let deadline = Instant::now() + DEADLINE;
        let start = usize::try_from(hash(&self.settings.node) % 1024).unwrap_or(0);
        sleep(spread(&self.settings.node, ATTEMPT)).await;
        let mut held = None;
        let mut logged = None;
        while held.is_none() && Instant::now() < deadline {
            self.heartbeat.beat();
            match self.attempt(start).await {
                Some(Attempt::Got(slot)) => held = Some(*slot),
                Some(Attempt::Full(holders)) => {
                    let reason = holders.to_string();
                    if logged.as_ref() != Some(&reason) {
                        tracing::info!("waiting for a slot; other nodes hold {reason}");
                        logged = Some(reason);
                    }
                    self.metrics.set(|figures| figures.waits_for_slot = true);
                    sleep(ATTEMPT + spread(&self.settings.node, ATTEMPT)).await;
                }
                Some(Attempt::Outrun) | None => sleep(ATTEMPT).await,
            }
        }
        let answers = self.cluster.answers();
        self.metrics.set(|figures| (figures.waits_for_slot, figures.api_answers) = (held.is_none(), answers));
        held
    }

    /// A slot for a run that is under way already, most often the one that the earlier pod of this node has taken for it.
    pub(super) async fn own_slot(&mut self) -> Option<Held> {
        match self.attempt(0).await? {
            Attempt::Got(held) => Some(*held),
            Attempt::Full(_) | Attempt::Outrun => None,
        }
    }

    /// Gives back, once, what an earlier pod has left that ended after its run did, so that no pod waits for it to expire.
    pub(super) async fn tidy_slots(&mut self) {
        if self.is_tidy {
            return;
        }
        let Some(slots) = self.slots() else { return };
        let left = timeout(ANSWER, slots.left_behind()).await;
        let left = left.unwrap_or_else(|_| Err(silent("list the slots")));
        let Some(left) = self.cluster.note(left.map_err(PodError::from)) else { return };
        self.is_tidy = true;
        if let Some(held) = left {
            self.release(held).await;
        }
    }

    fn slots(&mut self) -> Option<&mut Slots> {
        if self.slots.is_none() {
            let (pool, node, limit) = (names::slots(self.prep), self.settings.node.clone(), self.settings.limit);
            self.slots = self.cluster.client().map(|client| Slots::new(&client, pool, &node, limit));
        }
        self.slots.as_mut()
    }

    /// Tries once to take a slot; none while the API does not answer.
    async fn attempt(&mut self, start: usize) -> Option<Attempt> {
        let attempt = timeout(ANSWER, self.slots()?.take(start)).await;
        let attempt = attempt.unwrap_or_else(|_| Err(silent("take a slot")));
        self.cluster.note(attempt.map_err(PodError::from))
    }

    /// Keeps a slot fresh, unless it was held long enough or belongs to another by now.
    pub(super) async fn keep(&mut self, held: Option<Held>, since: Duration) -> Option<Held> {
        let mut held = held?;
        if since >= LONGEST_HOLD {
            tracing::warn!(slot = held.name(), "this run takes long; other nodes need not wait for it any more");
            self.release(held).await;
            return None;
        }
        let renewed = timeout(ANSWER, held.renew()).await.unwrap_or_else(|_| Err(silent("keep a slot")));
        match self.cluster.note(renewed.map_err(PodError::from)) {
            Some(false) => {
                tracing::warn!(slot = held.name(), "another node has taken the slot of this one");
                None
            }
            // Whether it was renewed or not is seen the next time.
            Some(true) | None => Some(held),
        }
    }

    /// Gives a slot back. If the API does not answer, others take it when it is not fresh any more.
    pub(super) async fn release(&mut self, held: Held) {
        let released = timeout(ANSWER, held.release()).await.unwrap_or_else(|_| Err(silent("give a slot back")));
        self.cluster.note(released.map_err(PodError::from));
    }
}

fn silent(doing: &str) -> ApiError {
    let why = format!("no answer within {} s", ANSWER.as_secs());
    ApiError::Unreachable { doing: doing.to_owned(), why }
}

/// A part of `most` that differs from node to node and is always the same for one: nodes that start together do not ask
/// together.
pub(super) fn spread(node: &str, most: Duration) -> Duration {
    let thousandth = u32::try_from(hash(node) % 1000).unwrap_or(0);
    most * thousandth / 1000
}

fn hash(node: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    node.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_spread_over_the_time_given() {
        let most = Duration::from_mins(1);
        let spreads: Vec<Duration> = (0..50).map(|node| spread(&format!("worker-{node}"), most)).collect();
        assert!(spreads.iter().all(|spread| *spread < most));
        assert!(spreads.iter().any(|spread| *spread < most / 4) && spreads.iter().any(|spread| *spread > most / 2));
        assert_eq!(spread("a", most), spread("a", most));
    }
}
