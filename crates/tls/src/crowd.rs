//! How many connections there may be at once, in all and from one address.
//!
//! A place is held from the moment a connection is accepted until it is closed, so a client that opens connections and
//! says nothing uses up its own places and nobody else's.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The connections that are there, counted by address.
#[derive(Debug)]
pub(crate) struct Crowd {
    most: usize,
    most_per_address: usize,
    present: Mutex<HashMap<IpAddr, usize>>,
}

/// The right to be connected; given back when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    crowd: Arc<Crowd>,
    address: IpAddr,
}

impl Crowd {
    pub(crate) fn new(most: usize, most_per_address: usize) -> Arc<Self> {
        Arc::new(Self { most, most_per_address, present: Mutex::default() })
    }

    /// A place for one more connection, unless all or all of this address are taken.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut present = self.present();
        let from_here = present.get(&address).copied().unwrap_or_default();
        if from_here >= self.most_per_address || present.values().sum::<usize>() >= self.most {
            return None;
        }
        present.insert(address, from_here + 1);
        Some(Place { crowd: Arc::clone(self), address })
    }

    fn present(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // Counting cannot panic half-way, so the numbers are right even if somebody's thread died.
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut present = self.crowd.present();
        if let Some(count) = present.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                present.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_given_back() {
        let crowd = Crowd::new(3, 2);
        let [a, b, c] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|ip| ip.parse::<IpAddr>().unwrap());
        let first = crowd.enter(a).unwrap();
        let second = crowd.enter(a).unwrap();
        assert!(crowd.enter(a).is_none(), "a third one of the same address");
        let third = crowd.enter(b).unwrap();
        assert!(crowd.enter(c).is_none(), "a fourth one in all");
        drop(first);
        let fourth = crowd.enter(c).unwrap();
        drop((second, third, fourth));
        assert!(crowd.present().is_empty(), "nothing is remembered of who has gone");
    }
}
