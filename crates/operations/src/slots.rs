//! How many nodes are worked on at once: slots, which are Leases in the cluster.
//!
//! A node that wants to start takes one of N slots, keeps it fresh while it works, and gives it back. N is a share of the
//! nodes there are. A slot whose holder died is not kept fresh any more, and another node takes it. Whether one is still fresh is
//! evaluated by whether it changes, never by the times in it: a node whose clock is wrong must not block the others.
//!
//! What is done to etcd's members, before there is an API that could keep a Lease, has a lock in etcd itself instead:
//! `etcd::MembershipLock`.

mod leases;

use std::{fmt, time::Duration};

pub use leases::{Attempt, Held, Slots};

/// A slot that has not changed for so long is free.
const EXPIRES: Duration = Duration::from_mins(1);

/// The slots of one kind of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// The namespace of their Leases.
    pub namespace: &'static str,
    /// The value of their label `app`.
    pub app: String,
    /// How their names begin; a number follows.
    pub prefix: String,
}

/// How many nodes may be worked on at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// So many.
    Nodes(usize),
    /// So many of a hundred.
    Percent(usize),
}

impl Default for Limit {
    fn default() -> Self {
        Self::Percent(10)
    }
}

impl Limit {
    /// `3`, or `10%`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix('%') {
            Some(percent) => percent.parse().ok().filter(|percent| (1..=100).contains(percent)).map(Self::Percent),
            None => text.parse().ok().filter(|nodes| *nodes >= 1).map(Self::Nodes),
        }
    }

    /// How many slots there are in a cluster of so many nodes: rounded up, so never none.
    pub fn slots(self, nodes: usize) -> usize {
        match self {
            Self::Nodes(slots) => slots,
            Self::Percent(percent) => (nodes * percent).div_ceil(100).max(1),
        }
    }
}

/// A slot as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    /// Which one.
    index: usize,
    /// Whose it is.
    holder: Option<String>,
    /// For how long it has been seen unchanged.
    unchanged: Duration,
}

impl Found {
    fn is_free_for(&self, node: &str) -> bool {
        self.holder.as_deref().is_none_or(|holder| holder == node) || self.unchanged >= EXPIRES
    }
}

/// Which slot to take.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Choice {
    /// One that no node has made yet.
    Create(usize),
    /// One that is free, or the own one of an earlier process, or of a node that is gone.
    TakeOver(usize),
    /// None: these hold them.
    Full(Holders),
}

/// Who holds all slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holders(Vec<String>);

impl fmt::Display for Holders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}: {}", self.0.len(), self.0.len(), self.0.join(", "))
    }
}

/// Which slot a node takes. The own one first; else the search begins at `start`, so that not all want the same.
fn choose(found: &[Found], slots: usize, node: &str, start: usize) -> Choice {
    let own = found.iter().find(|slot| slot.holder.as_deref() == Some(node));
    if let Some(own) = own.filter(|own| own.index < slots) {
        return Choice::TakeOver(own.index);
    }
    for index in (0..slots).map(|offset| start.wrapping_add(offset) % slots) {
        match found.iter().find(|slot| slot.index == index) {
            None => return Choice::Create(index),
            Some(slot) if slot.is_free_for(node) => return Choice::TakeOver(index),
            Some(_) => {}
        }
    }
    let within = found.iter().filter(|slot| slot.index < slots);
    Choice::Full(Holders(within.filter_map(|slot| slot.holder.clone()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(index: usize, holder: &str, unchanged: u64) -> Found {
        let holder = Some(holder.to_owned()).filter(|holder| !holder.is_empty());
        Found { index, holder, unchanged: Duration::from_secs(unchanged) }
    }

    #[test]
    fn a_share_is_rounded_up_and_never_none() {
        let by_default: Vec<usize> = [0, 1, 2, 10, 11, 100, 101, 250].map(|n| Limit::default().slots(n)).to_vec();
        assert_eq!(by_default, [1, 1, 1, 1, 2, 10, 11, 25]);
        assert_eq!(Limit::Percent(100).slots(7), 7);
        assert_eq!(Limit::Nodes(3).slots(1), 3);
    }

    #[test]
    fn limits_as_they_are_written() {
        for (text, expected) in [
            ("3", Some(Limit::Nodes(3))),
            ("25%", Some(Limit::Percent(25))),
            ("0", None),
            ("0%", None),
            ("101%", None),
            ("-1", None),
            ("many", None),
            ("%", None),
        ] {
            assert_eq!(Limit::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_free_slot_is_taken_and_no_free_slot_is_reported() {
        let (a, b) = (slot(0, "a", 5), slot(1, "b", 5));
        for (case, found, slots, start, expected) in [
            ("no node holds one", vec![], 2, 7, Choice::Create(1)),
            ("one is left", vec![a.clone()], 2, 0, Choice::Create(1)),
            ("given back", vec![a.clone(), slot(1, "", 0)], 2, 0, Choice::TakeOver(1)),
            ("gone", vec![a.clone(), slot(1, "b", 60)], 2, 0, Choice::TakeOver(1)),
            ("the own one", vec![a.clone(), slot(1, "me", 3)], 2, 0, Choice::TakeOver(1)),
            ("all are busy", vec![a.clone(), b.clone()], 2, 1, Choice::Full(Holders(vec!["a".into(), "b".into()]))),
            ("fewer than there were", vec![a.clone(), b], 1, 0, Choice::Full(Holders(vec!["a".into()]))),
            ("an own one too many", vec![a, slot(5, "me", 3)], 1, 0, Choice::Full(Holders(vec!["a".into()]))),
        ] {
            assert_eq!(choose(&found, slots, "me", start), expected, "{case}");
        }
        assert_eq!(Holders(vec!["a".into(), "b".into()]).to_string(), "2 of 2: a, b");
    }
}
