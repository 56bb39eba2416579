//! Which of a node's secrets is the newer one.
//!
//! A generation is the moment at which the secret was made, in unix seconds. So masters can end everything that was made
//! so far without having seen it, and `config seal` needs no answer from them to make one that is accepted.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The generation of a node's secret. Only ever compared with others of the same node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(pub u32);

impl Generation {
    /// That of a secret that is made now.
    pub fn at(now: Timestamp) -> Self {
        Self(seconds(Some(now)))
    }

    /// That of a secret that is made now, after one of this generation: higher even where a clock was set back.
    #[must_use]
    pub fn next(self, now: Timestamp) -> Self {
        Self(self.0.saturating_add(1)).max(Self::at(now))
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match moment(self.0) {
            Some(made) => write!(f, "{} ({made})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

/// Unix seconds, 0 for never. What lies beyond the range (before 1970, after 2106) becomes its end.
pub(crate) fn seconds(expires: Option<Timestamp>) -> u32 {
    let clamped = |moment: Timestamp| moment.as_second().clamp(1, u32::MAX.into());
    expires.map_or(0, |moment| u32::try_from(clamped(moment)).unwrap_or(u32::MAX))
}

/// The reverse of [`seconds`].
pub(crate) fn moment(seconds: u32) -> Option<Timestamp> {
    if seconds == 0 { None } else { Timestamp::from_second(seconds.into()).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_higher_than_the_one_before() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        for (before, now, expected) in [(0, 100, 100), (99, 100, 100), (100, 100, 101), (500, 100, 501)] {
            assert_eq!(Generation(before).next(at(now)), Generation(expected), "{before} {now}");
        }
        assert_eq!(Generation(u32::MAX).next(at(1)), Generation(u32::MAX), "in 2106");
        assert_eq!(Generation(1_800_000_000).to_string(), "1800000000 (2027-01-15T08:00:00Z)");
    }
}
