//! Which masters could not be reached, and since when.

use std::{collections::BTreeMap, net::SocketAddr, sync::Mutex};

use jiff::Timestamp;

use super::JoinError;
use crate::server::locked;

/// Since when each master has not been reached; those that answer are not in it.
#[derive(Debug, Default)]
pub(super) struct Reached(Mutex<BTreeMap<SocketAddr, Timestamp>>);

/// One try with each master.
pub(super) struct Round<'a> {
    known: &'a Reached,
    failures: Vec<JoinError>,
}

impl Reached {
    /// Those that answered the last time, or were never asked, before those that did not.
    pub(super) fn order(&self, masters: &[SocketAddr]) -> Vec<SocketAddr> {
        let silent = locked(&self.0);
        let mut order = masters.to_vec();
        order.sort_by_key(|master| silent.contains_key(master));
        order
    }

    pub(super) fn round(&self) -> Round<'_> {
        Round { known: self, failures: Vec::new() }
    }
}

impl Round<'_> {
    /// A master answered.
    pub(super) fn reached<T>(&mut self, master: SocketAddr, answer: T) -> T {
        locked(&self.known.0).remove(&master);
        answer
    }

    /// Goes on with the next master, unless all would say the same.
    pub(super) fn failed(&mut self, master: SocketAddr, error: JoinError) -> Result<(), JoinError> {
        let mut silent = locked(&self.known.0);
        let error = match error {
            JoinError::Unreachable { mut tried } => {
                for one in &mut tried {
                    one.since = *silent.entry(one.master).or_insert(one.since);
                }
                JoinError::Unreachable { tried }
            }
            answered => {
                silent.remove(&master);
                answered
            }
        };
        if error.is_final() {
            return Err(error);
        }
        self.failures.push(error);
        Ok(())
    }

    /// What to report of a round in which no master helped: whatever says more than that no master was there.
    pub(super) fn verdict(self) -> JoinError {
        let mut tried = Vec::new();
        let mut relevant = Vec::new();
        for failure in self.failures {
            match failure {
                JoinError::Unreachable { tried: more } => tried.extend(more),
                other => relevant.push(other),
            }
        }
        // One that will not go away by waiting comes before one that may.
        relevant.sort_by_key(JoinError::is_retryable);
        relevant.into_iter().next().unwrap_or(JoinError::Unreachable { tried })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Unreached;

    fn at(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    fn silent(port: u16) -> JoinError {
        JoinError::unreached(at(port), "connection refused".to_owned())
    }

    #[test]
    fn since_when_is_kept_until_the_master_answers() {
        let reached = Reached::default();
        let since = |error: JoinError| match error {
            JoinError::Unreachable { tried } => tried.iter().map(|one: &Unreached| one.since).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        let fail = || {
            let mut round = reached.round();
            round.failed(at(1), silent(1)).unwrap();
            round.failed(at(2), silent(2)).unwrap();
            since(round.verdict())
        };
        let first = fail();
        assert_eq!(first.len(), 2);
        assert_eq!(fail(), first, "the second round reports the moment of the first");
        reached.round().reached(at(1), ());
        let third = fail();
        assert!(third[0] > first[0] && third[1] == first[1]);
    }

    #[test]
    fn the_silent_are_asked_last() {
        let reached = Reached::default();
        reached.round().failed(at(1), silent(1)).unwrap();
        assert_eq!(reached.order(&[at(1), at(2), at(3)]), [at(2), at(3), at(1)]);
        reached.round().reached(at(1), ());
        assert_eq!(reached.order(&[at(1), at(2), at(3)]), [at(1), at(2), at(3)]);
    }

    #[test]
    fn the_most_specific_failure_is_reported() {
        let reached = Reached::default();
        let mut round = reached.round();
        round.failed(at(1), silent(1)).unwrap();
        round.failed(at(2), JoinError::Clock { master: at(2) }).unwrap();
        round.failed(at(3), JoinError::WrongCa { master: at(3) }).unwrap();
        assert!(matches!(round.verdict(), JoinError::WrongCa { .. }));
        assert!(matches!(reached.round().verdict(), JoinError::Unreachable { tried } if tried.is_empty()));
    }
}
