//! How many connections there may be at once, in all and from one address. A newcomer always gets in: where there is no
//! room, another connection is closed.
//!
//! Refusing newcomers would let clients that come first and stay keep all others out. So an address that has its share loses
//! its own oldest connection, and where all slots are taken, the address that has the most does. A flood thus
//! pushes out only itself, and a node that needs a few milliseconds to be done is done before its turn comes.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

/// The connections that are there, by address.
#[derive(Debug)]
pub(crate) struct ConnectionLimit {
    most: usize,
    most_per_address: usize,
    present: Mutex<Present>,
}

#[derive(Debug, Default)]
struct Present {
    /// By address, and in the order in which they came.
    slots: HashMap<IpAddr, BTreeMap<u64, CancellationToken>>,
    count: usize,
    next: u64,
}

/// The right to be connected; given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    limit: Arc<ConnectionLimit>,
    address: IpAddr,
    number: u64,
    over: CancellationToken,
}

impl ConnectionLimit {
    pub(crate) fn new(most: usize, most_per_address: usize) -> Arc<Self> {
        Arc::new(Self { most, most_per_address, present: Mutex::default() })
    }

    /// A slot for one more connection, which ends with `parent` or when its slot is needed.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr, parent: &CancellationToken) -> Slot {
        let over = parent.child_token();
        let mut present = self.present();
        if present.of(address) >= self.most_per_address {
            present.end_oldest_of(address);
        } else if present.count >= self.most
            && let Some(largest) = present.largest()
        {
            present.end_oldest_of(largest);
        }
        let number = present.next;
        present.next += 1;
        present.count += 1;
        present.slots.entry(address).or_default().insert(number, over.clone());
        Slot { limit: Arc::clone(self), address, number, over }
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        // Counting cannot panic half-way, so the numbers are right even if a thread died.
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Present {
    fn of(&self, address: IpAddr) -> usize {
        self.slots.get(&address).map_or(0, BTreeMap::len)
    }

    /// The address with the most connections.
    fn largest(&self) -> Option<IpAddr> {
        self.slots.iter().max_by_key(|(_, slots)| slots.len()).map(|(address, _)| *address)
    }

    fn end_oldest_of(&mut self, address: IpAddr) {
        let oldest = self.slots.get(&address).and_then(|slots| slots.keys().next().copied());
        if let Some(over) = oldest.and_then(|oldest| self.remove(address, oldest)) {
            over.cancel();
        }
    }

    fn remove(&mut self, address: IpAddr, number: u64) -> Option<CancellationToken> {
        let slots = self.slots.get_mut(&address)?;
        let removed = slots.remove(&number)?;
        if slots.is_empty() {
            self.slots.remove(&address);
        }
        self.count -= 1;
        Some(removed)
    }
}

impl Slot {
    /// Cancelled when the connection has to end.
    pub(crate) fn over(&self) -> &CancellationToken {
        &self.over
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.limit.present().remove(self.address, self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> [IpAddr; 3] {
        ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|ip| ip.parse().unwrap())
    }

    #[test]
    fn an_address_that_has_its_share_loses_its_own_oldest() {
        let (limit, open) = (ConnectionLimit::new(8, 2), CancellationToken::new());
        let [a, b, _] = addresses();
        let other = limit.enter(b, &open);
        let of_a: Vec<Slot> = (0..4).map(|_| limit.enter(a, &open)).collect();
        let ended: Vec<bool> = of_a.iter().map(|slot| slot.over().is_cancelled()).collect();
        assert_eq!(ended, [true, true, false, false]);
        assert!(!other.over().is_cancelled(), "no other address is concerned");
        drop((of_a, other));
        assert!(
            limit.present().slots.is_empty() && limit.present().count == 0,
            "nothing is remembered of who has gone"
        );
    }

    #[test]
    fn where_all_places_are_taken_the_address_with_the_most_makes_room() {
        let (limit, open) = (ConnectionLimit::new(4, 3), CancellationToken::new());
        let [flood, honest, newcomer] = addresses();
        let first = limit.enter(honest, &open);
        let many: Vec<Slot> = (0..3).map(|_| limit.enter(flood, &open)).collect();
        let last = limit.enter(newcomer, &open);
        assert!(many[0].over().is_cancelled() && !many[1].over().is_cancelled());
        assert!(!first.over().is_cancelled() && !last.over().is_cancelled());
        assert_eq!(limit.present().count, 4);
    }

    #[test]
    fn a_slot_ends_with_what_it_was_given_under() {
        let (limit, open) = (ConnectionLimit::new(1, 1), CancellationToken::new());
        let slot = limit.enter(addresses()[0], &open);
        open.cancel();
        assert!(slot.over().is_cancelled());
    }
}
