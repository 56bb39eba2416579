//! What the controller remembers between two observations. All of it can be lost: it is found again, or only says what is shown.

use std::{collections::BTreeMap, time::Duration};

use operations::slots::{Held, Slots};
use tokio::time::Instant;

use super::reporting::Sending;

/// What is remembered of all nodes.
#[derive(Default)]
pub(super) struct Memory(BTreeMap<String, NodeMemory>);

/// What is remembered of one node.
#[derive(Default)]
pub(super) struct NodeMemory {
    /// Made when a slot is first needed; it remembers what it has seen of others.
    pub(super) slots: Option<Slots>,
    pub(super) held: Option<(Held, Instant)>,
    /// Whether the slot that an earlier process may have left was searched for.
    pub(super) is_searched: bool,
    /// Who held all slots, and when that was seen.
    pub(super) full: Option<(String, Instant)>,
    /// Which pods are left, and what holds them back.
    pub(super) leaving: Option<String>,
    /// The event of progress that is under way.
    pub(super) sending: Option<Sending>,
    /// What went wrong last: each is logged once.
    pub(super) failure: Option<String>,
}

/// For so long the API is not asked again for a slot.
const FULL: Duration = Duration::from_secs(3);

impl Memory {
    pub(super) fn of(&mut self, node: &str) -> &mut NodeMemory {
        self.0.entry(node.to_owned()).or_default()
    }

    pub(super) fn keep_only(&mut self, is_known: impl Fn(&str) -> bool) {
        self.0.retain(|node, _| is_known(node));
    }
}

impl NodeMemory {
    pub(super) fn holders(&self) -> Option<&str> {
        self.full.as_ref().filter(|(_, since)| since.elapsed() < FULL).map(|(holders, _)| holders.as_str())
    }
}
