//! Whether a master may be used, as a pure function of what was seen of it.
//!
//! A refusal is certain: nobody listens there, so one is enough. Silence and "not ready" may pass (a busy disk), and taking
//! a master away closes all its connections, so these must be seen twice in a row. Where no other master is better, it is
//! rather the cluster than the master (an election in etcd) or this node's own network, and they must be seen more often.

/// What one look at a master showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It says that it is ready.
    Ready,
    /// Somebody listens there; more could not be asked.
    Listens,
    /// Nobody listens, the machine is not there, or it is not a master of this cluster.
    Refused,
    /// It took too long, or answered that it is not ready.
    Unsure,
}

/// So many looks in a row must fail to convince where another master is up.
const ENOUGH: u8 = 2;
/// And so many where none is.
const ENOUGH_ALONE: u8 = 4;

/// What is thought of a master. One that was never seen is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Health {
    /// Gets new connections.
    Up,
    /// Still gets connections, but so many looks in a row were not convincing.
    Doubted(u8),
    /// Gets none, and loses those it has.
    #[default]
    Down,
}

impl Health {
    /// What is thought after one more look, while another master is up or none is.
    #[must_use]
    pub(super) fn after(self, outcome: Outcome, another_is_up: bool) -> Self {
        let enough = if another_is_up { ENOUGH } else { ENOUGH_ALONE };
        match (outcome, self) {
            (Outcome::Ready, _) => Self::Up,
            // Where only the port could be tried, the first real questions decide.
            (Outcome::Listens, _) | (Outcome::Unsure, Self::Up) => Self::Doubted(1),
            (Outcome::Unsure, Self::Doubted(looks)) if looks + 1 < enough => Self::Doubted(looks + 1),
            (Outcome::Refused, _) | (Outcome::Unsure, Self::Doubted(_) | Self::Down) => Self::Down,
        }
    }

    /// True if connections may go there.
    pub(super) fn is_usable(self) -> bool {
        self != Self::Down
    }
}

#[cfg(test)]
mod tests {
    use super::{Health::*, Outcome::*, *};

    #[test]
    fn one_refusal_is_enough_and_one_doubt_is_not() {
        let cases: &[(&[Outcome], Health)] = &[
            (&[], Down),
            (&[Unsure], Down),
            (&[Ready], Up),
            (&[Ready, Refused], Down),
            (&[Ready, Unsure], Doubted(1)),
            (&[Ready, Unsure, Ready], Up),
            (&[Ready, Unsure, Ready, Unsure], Doubted(1)),
            (&[Ready, Unsure, Unsure], Down),
            (&[Ready, Unsure, Refused], Down),
            (&[Ready, Unsure, Unsure, Ready], Up),
            (&[Refused, Unsure, Ready], Up),
            (&[Listens, Listens], Doubted(1)),
            (&[Listens, Unsure], Down),
            (&[Listens, Ready, Unsure], Doubted(1)),
        ];
        for (looks, expected) in cases {
            let end = looks.iter().fold(Health::default(), |health, outcome| health.after(*outcome, true));
            assert_eq!(end, *expected, "{looks:?}");
        }
    }

    #[test]
    fn where_no_other_is_up_doubts_last_longer() {
        let cases: &[(&[Outcome], Health)] = &[
            (&[Unsure], Down),
            (&[Ready, Refused], Down),
            (&[Ready, Unsure, Unsure, Unsure], Doubted(3)),
            (&[Ready, Unsure, Unsure, Unsure, Ready, Unsure], Doubted(1)),
            (&[Ready, Unsure, Unsure, Unsure, Unsure], Down),
        ];
        for (looks, expected) in cases {
            let end = looks.iter().fold(Health::default(), |health, outcome| health.after(*outcome, false));
            assert_eq!(end, *expected, "{looks:?}");
        }
        assert_eq!(Doubted(3).after(Unsure, true), Down, "another one has come up");
    }
}
