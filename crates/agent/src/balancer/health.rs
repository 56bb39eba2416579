//! Whether a master may be used, as a pure function of what was seen of it.
//!
//! A refusal is certain: nobody listens there, so one is enough. Silence and "not ready" may pass (a busy disk, an
//! election in etcd), and taking a master away closes all its connections, so these must be seen twice in a row.

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

/// What is thought of a master. One that was never seen is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Health {
    /// Gets new connections.
    Up,
    /// Still gets connections, but the last look was not convincing.
    Doubted,
    /// Gets none, and loses those it has.
    #[default]
    Down,
}

impl Health {
    /// What is thought after one more look.
    #[must_use]
    pub(super) fn after(self, outcome: Outcome) -> Self {
        match (outcome, self) {
            (Outcome::Ready, _) => Self::Up,
            // Where only the port could be tried, the first real question decides.
            (Outcome::Listens, _) | (Outcome::Unsure, Self::Up) => Self::Doubted,
            (Outcome::Refused, _) | (Outcome::Unsure, Self::Doubted | Self::Down) => Self::Down,
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
            (&[Ready, Unsure], Doubted),
            (&[Ready, Unsure, Ready], Up),
            (&[Ready, Unsure, Ready, Unsure], Doubted),
            (&[Ready, Unsure, Unsure], Down),
            (&[Ready, Unsure, Refused], Down),
            (&[Ready, Unsure, Unsure, Ready], Up),
            (&[Refused, Unsure, Ready], Up),
            (&[Listens, Listens], Doubted),
            (&[Listens, Unsure], Down),
            (&[Listens, Ready, Unsure], Doubted),
        ];
        for (looks, expected) in cases {
            let end = looks.iter().fold(Health::default(), |health, outcome| health.after(*outcome));
            assert_eq!(end, *expected, "{looks:?}");
        }
    }
}
