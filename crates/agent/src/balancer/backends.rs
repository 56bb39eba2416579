//! The masters as the balancer sees them: health, open connections, and who is notified when that changes.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    choice::{Candidate, choose},
    health::{Health, Outcome},
};

/// All masters of the cluster.
pub(super) struct Backends {
    rotation: usize,
    all: Mutex<Vec<Backend>>,
    /// How many are usable; a client that waits for one, or for the last one to go, watches this.
    usable: watch::Sender<usize>,
}

struct Backend {
    address: SocketAddr,
    /// The bootstrap node: from when on there is a master, it gets no new client.
    is_temporary: bool,
    health: Health,
    connections: usize,
    /// Cancelled when the master goes down; every connection to it holds a child.
    lost: CancellationToken,
}

/// A place at a master, given back when dropped.
pub(super) struct Lease {
    backends: Arc<Backends>,
    pub(super) index: usize,
    pub(super) address: SocketAddr,
    /// Cancelled as soon as the master goes down.
    pub(super) lost: CancellationToken,
}

impl Backends {
    pub(super) fn new(masters: &[SocketAddr], temporary: Option<SocketAddr>, rotation: usize) -> Arc<Self> {
        let backend = |address: &SocketAddr| Backend {
            address: *address,
            is_temporary: temporary == Some(*address),
            health: Health::default(),
            connections: 0,
            lost: CancellationToken::new(),
        };
        let all = Mutex::new(masters.iter().map(backend).collect());
        Arc::new(Self { rotation, all, usable: watch::Sender::new(0) })
    }

    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.lock().iter().map(|backend| backend.address).collect()
    }

    /// How many masters are usable, to be watched.
    pub(super) fn usable(&self) -> watch::Receiver<usize> {
        self.usable.subscribe()
    }

    /// Takes in what was seen of a master. One that goes down loses its connections at once.
    pub(super) fn seen(&self, index: usize, outcome: Outcome) {
        let mut backends = self.lock();
        let others = backends.iter().enumerate().filter(|(other, _)| *other != index);
        let another_is_up = others.map(|(_, other)| other.health).any(|health| health == Health::Up);
        let backend = &mut backends[index];
        let before = backend.health;
        backend.health = before.after(outcome, another_is_up);
        match (before.is_usable(), backend.health.is_usable()) {
            (false, true) => tracing::info!(master = %backend.address, ?outcome, "the API server is used from now on"),
            (true, false) => {
                let (master, connections) = (backend.address, backend.connections);
                tracing::warn!(%master, connections, ?outcome, "the API server is down, its connections are closed");
                std::mem::take(&mut backend.lost).cancel();
            }
            _ => {}
        }
        let usable = backends.iter().filter(|backend| backend.health.is_usable()).count();
        self.usable.send_if_modified(|known| std::mem::replace(known, usable) != usable);
    }

    /// A place at the best master that was not tried yet.
    pub(super) fn lease(self: &Arc<Self>, tried: &[usize]) -> Option<Lease> {
        let mut backends = self.lock();
        let candidates: Vec<Candidate> = backends
            .iter()
            .enumerate()
            .map(|(index, backend)| Candidate {
                usable: backend.health.is_usable() && !tried.contains(&index),
                last_resort: backend.is_temporary || backend.health.is_last_resort(),
                connections: backend.connections,
            })
            .collect();
        let index = choose(&candidates, self.rotation)?;
        let backend = &mut backends[index];
        backend.connections += 1;
        Some(Lease { backends: Arc::clone(self), index, address: backend.address, lost: backend.lost.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Backend>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.backends.lock()[self.index].connections -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Arc<Backends> {
        Backends::new(&[1, 2, 3].map(|port| SocketAddr::from(([127, 0, 0, 1], port))), None, 0)
    }

    #[test]
    fn a_bootstrap_node_is_for_clients_that_no_master_takes() {
        let addresses = [1, 2].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let backends = Backends::new(&addresses, Some(addresses[0]), 0);
        backends.seen(0, Outcome::Ready);
        let first = backends.lease(&[]).unwrap();
        assert_eq!(first.index, 0);
        backends.seen(1, Outcome::Ready);
        let others: Vec<Lease> = (0..3).filter_map(|_| backends.lease(&[])).collect();
        assert!(others.iter().all(|lease| lease.index == 1) && !first.lost.is_cancelled());
        backends.seen(1, Outcome::Refused);
        assert_eq!(backends.lease(&[]).map(|lease| lease.index), Some(0));
    }

    #[test]
    fn places_are_spread_and_given_back() {
        let backends = three();
        assert!(backends.lease(&[]).is_none());
        (0..3).for_each(|index| backends.seen(index, Outcome::Ready));
        let leases: Vec<Lease> = (0..6).filter_map(|_| backends.lease(&[])).collect();
        assert_eq!(leases.iter().map(|lease| lease.index).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        assert_eq!(backends.lease(&[0, 1]).map(|lease| lease.index), Some(2));
        drop(leases);
        assert_eq!(backends.lease(&[]).map(|lease| lease.index), Some(0));
    }

    #[test]
    fn while_all_are_in_doubt_no_client_loses_a_connection() {
        let backends = three();
        (0..2).for_each(|index| backends.seen(index, Outcome::Ready));
        let lease = backends.lease(&[]).unwrap();
        for index in [0, 1, 0, 1] {
            backends.seen(index, Outcome::Unsure);
        }
        assert!(!lease.lost.is_cancelled());
        backends.seen(1, Outcome::Ready);
        backends.seen(0, Outcome::Unsure);
        assert!(lease.lost.is_cancelled(), "the other one is back, and this one is not");
    }

    #[test]
    fn only_the_connections_of_the_lost_master_are_lost() {
        let backends = three();
        let mut usable = backends.usable();
        (0..2).for_each(|index| backends.seen(index, Outcome::Ready));
        let (first, second) = (backends.lease(&[]).unwrap(), backends.lease(&[]).unwrap());
        assert_eq!(*usable.borrow_and_update(), 2);

        backends.seen(0, Outcome::Unsure);
        assert!(!first.lost.is_cancelled() && !usable.has_changed().unwrap());
        backends.seen(0, Outcome::Refused);
        assert!(first.lost.is_cancelled() && !second.lost.is_cancelled());
        assert_eq!(*usable.borrow_and_update(), 1);

        backends.seen(0, Outcome::Ready);
        let again = backends.lease(&[1]).unwrap();
        assert!(!again.lost.is_cancelled());
    }
}
