//! How many connections the balancer proxies at once, and which one is closed when the limit is reached.
//!
//! Everything on the node reaches the balancer, also a pod in the node's own network that means no good. A client that holds
//! connections and says nothing loses them; a client that works keeps its own, and a new one need not wait.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A client that is not heard for so long may have to go. Clients of the API that wait for events say something every thirty
/// seconds, if only that they are there.
const QUIET: Duration = Duration::from_mins(1);

/// The places.
pub(super) struct Seats {
    most: usize,
    begun: Instant,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    /// In the order in which they came.
    seats: BTreeMap<u64, (Arc<Activity>, CancellationToken)>,
    next: u64,
}

/// What a client has done.
pub(super) struct Activity {
    begun: Instant,
    /// When something passed last, in milliseconds since the beginning.
    last: AtomicU64,
    /// Whether its master has answered.
    answered: AtomicBool,
}

/// One client's place, given back when dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    pub(super) activity: Arc<Activity>,
    /// Cancelled when another client needs the place.
    pub(super) needed: CancellationToken,
}

impl Seats {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, begun: Instant::now(), taken: Mutex::default() })
    }

    /// A place, if need be that of a client that makes no use of it. `None` where all do.
    pub(super) fn take(self: &Arc<Self>) -> Option<Seat> {
        let mut taken = self.lock();
        if taken.seats.len() >= self.most {
            let seen = taken.seats.iter().map(|(number, (activity, _))| (*number, activity.seen()));
            let (_, needed) = dispensable(seen).and_then(|number| taken.seats.remove(&number))?;
            needed.cancel();
        }
        let number = taken.next;
        taken.next += 1;
        let activity =
            Arc::new(Activity { begun: self.begun, last: AtomicU64::new(0), answered: AtomicBool::new(false) });
        activity.happened();
        let needed = CancellationToken::new();
        taken.seats.insert(number, (Arc::clone(&activity), needed.clone()));
        Some(Seat { seats: Arc::clone(self), number, activity, needed })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.lock().seats.remove(&self.number);
    }
}

impl Activity {
    /// Something passed.
    pub(super) fn happened(&self) {
        let millis = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(millis, Ordering::Relaxed);
    }

    /// Something came back.
    pub(super) fn answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
        self.happened();
    }

    /// When something passed last.
    pub(super) fn last(&self) -> Instant {
        self.begun + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }

    fn seen(&self) -> Seen {
        Seen { answered: self.answered.load(Ordering::Relaxed), quiet: self.last().elapsed() }
    }
}

/// What decides who has to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    answered: bool,
    quiet: Duration,
}

/// Who has to go: of those that never got an answer the one that is silent the longest, else of all others, if that is long.
fn dispensable(seats: impl Iterator<Item = (u64, Seen)>) -> Option<u64> {
    let goes = |(_, seen): &(u64, Seen)| !seen.answered || seen.quiet >= QUIET;
    seats.filter(goes).max_by_key(|(_, seen)| (!seen.answered, seen.quiet)).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_makes_no_use_of_a_place_goes_first() {
        let waits = |seconds| Seen { answered: false, quiet: Duration::from_secs(seconds) };
        let works = |seconds| Seen { answered: true, quiet: Duration::from_secs(seconds) };
        for (seats, expected) in [
            (vec![], None),
            (vec![works(30), works(59)], None),
            (vec![works(30), works(90), works(70)], Some(1)),
            (vec![works(3000), waits(1), waits(2)], Some(2)),
            (vec![works(0), waits(0)], Some(1)),
        ] {
            let numbered = (0..).zip(seats.iter().copied());
            assert_eq!(dispensable(numbered), expected, "{seats:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_newcomer_takes_the_place_of_a_silent_client() {
        let seats = Seats::new(2);
        let (works, silent) = (seats.take().unwrap(), seats.take().unwrap());
        works.activity.answered();
        let newcomer = seats.take().unwrap();
        assert!(silent.needed.is_cancelled() && !works.needed.is_cancelled());
        newcomer.activity.answered();
        assert!(seats.take().is_none(), "all of them work");
        tokio::time::advance(QUIET).await;
        works.activity.happened();
        let next = seats.take().unwrap();
        assert!(newcomer.needed.is_cancelled() && !works.needed.is_cancelled());
        drop((works, silent, newcomer, next));
        assert!(seats.lock().seats.is_empty());
    }
}
