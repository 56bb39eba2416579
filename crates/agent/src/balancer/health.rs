//! Whether a master may be used, as a pure function of what was seen of it.
//!
//! A refusal is certain: there is no listener, so one is enough. Silence may pass (a busy disk), and taking a master away
//! closes all its connections, so it must be seen twice in a row. Where no other master is better, it is rather the cluster
//! than the master (an election in etcd) or this node's own network, and it must be seen more often.
//!
//! One that answers "not ready" is about to stop, or has no etcd at the moment. New connections go elsewhere at once; those
//! it has may well come to a good end, and are left to it for a while.

/// What one check of a master showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It says that it is ready.
    Ready,
    /// There is a listener; more could not be asked.
    Listens,
    /// There is no listener, the machine is not there, or it is not a master of this cluster.
    Refused,
    /// It answers that it is not ready.
    NotReady,
    /// It took too long.
    Unsure,
}

/// So many checks in a row must fail to convince where another master is up.
const ENOUGH: u8 = 2;
/// And so many where none is.
const ENOUGH_ALONE: u8 = 4;

/// And so many checks in a row may show that it is not ready.
const LEAVING: u8 = 10;

/// What is thought of a master. One that was never seen is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Health {
    /// Gets new connections.
    Up,
    /// Still gets connections, but so many checks in a row were not convincing.
    Suspected(u8),
    /// Gets none where another one is better, and keeps those it has; so many checks in a row have shown that.
    Leaving(u8),
    /// Gets none, and loses those it has.
    #[default]
    Down,
}

impl Health {
    /// What is thought after one more check, while another master is up or none is.
    #[must_use]
    pub(super) fn after(self, outcome: Outcome, another_is_up: bool) -> Self {
        let enough = if another_is_up { ENOUGH } else { ENOUGH_ALONE };
        match (outcome, self) {
            (Outcome::Ready, _) => Self::Up,
            // Where only the port could be tried, the first real questions decide.
            (Outcome::Listens, _) | (Outcome::Unsure, Self::Up) => Self::Suspected(1),
            (Outcome::Unsure, Self::Suspected(checks)) if checks + 1 < enough => Self::Suspected(checks + 1),
            (Outcome::NotReady, Self::Up | Self::Suspected(_)) => Self::Leaving(1),
            (Outcome::NotReady, Self::Leaving(checks)) if checks < LEAVING => Self::Leaving(checks + 1),
            (Outcome::Refused, _)
            | (Outcome::Unsure, Self::Suspected(_) | Self::Leaving(_) | Self::Down)
            | (Outcome::NotReady, Self::Leaving(_) | Self::Down) => Self::Down,
        }
    }

    /// True if connections may go there.
    pub(super) fn is_usable(self) -> bool {
        self != Self::Down
    }

    /// True if it only gets connections that no other takes.
    pub(super) fn is_last_resort(self) -> bool {
        matches!(self, Self::Leaving(_))
    }
}

#[cfg(test)]
mod tests {
    use super::{Health::*, Outcome::*, *};

    #[test]
    fn one_refusal_is_enough_and_one_suspicion_is_not() {
        let cases: &[(&[Outcome], Health)] = &[
            (&[], Down),
            (&[Unsure], Down),
            (&[Ready], Up),
            (&[Ready, Refused], Down),
            (&[Ready, Unsure], Suspected(1)),
            (&[Ready, Unsure, Ready], Up),
            (&[Ready, Unsure, Ready, Unsure], Suspected(1)),
            (&[Ready, Unsure, Unsure], Down),
            (&[Ready, Unsure, Refused], Down),
            (&[Ready, Unsure, Unsure, Ready], Up),
            (&[Refused, Unsure, Ready], Up),
            (&[Listens, Listens], Suspected(1)),
            (&[Listens, Unsure], Down),
            (&[Listens, Ready, Unsure], Suspected(1)),
            (&[NotReady], Down),
            (&[Ready, NotReady], Leaving(1)),
            (&[Ready, Unsure, NotReady, NotReady], Leaving(2)),
            (&[Ready, NotReady, Ready], Up),
            (&[Ready, NotReady, Refused], Down),
            (&[Ready, NotReady, Unsure], Down),
            (
                &[
                    Ready, NotReady, NotReady, NotReady, NotReady, NotReady, NotReady, NotReady, NotReady, NotReady,
                    NotReady,
                ],
                Leaving(10),
            ),
            (
                &[
                    Ready, NotReady, NotReady, NotReady, NotReady, NotReady, NotReady, NotReady, NotReady, NotReady,
                    NotReady, NotReady,
                ],
                Down,
            ),
        ];
        for (checks, expected) in cases {
            let end = checks.iter().fold(Health::default(), |health, outcome| health.after(*outcome, true));
            assert_eq!(end, *expected, "{checks:?}");
        }
    }

    #[test]
    fn where_no_other_is_up_suspicion_lasts_longer() {
        let cases: &[(&[Outcome], Health)] = &[
            (&[Unsure], Down),
            (&[Ready, Refused], Down),
            (&[Ready, Unsure, Unsure, Unsure], Suspected(3)),
            (&[Ready, Unsure, Unsure, Unsure, Ready, Unsure], Suspected(1)),
            (&[Ready, Unsure, Unsure, Unsure, Unsure], Down),
        ];
        for (checks, expected) in cases {
            let end = checks.iter().fold(Health::default(), |health, outcome| health.after(*outcome, false));
            assert_eq!(end, *expected, "{checks:?}");
        }
        assert_eq!(Suspected(3).after(Unsure, true), Down, "another one has come up");
    }
}
