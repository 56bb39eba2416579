//! A source that fails too often has to wait.

use std::{collections::HashMap, sync::Mutex, time::Duration};

use tokio::time::Instant;

use super::{outside::locked, source::Source};
use crate::Refusal;

/// How many failures within a window are heard before a source has to wait.
const FAILURES: u32 = 10;
const WINDOW: Duration = Duration::from_mins(1);
/// How many sources are remembered.
const MOST: usize = 1024;

/// Failed attempts by source, within a window that begins with the first of them.
#[derive(Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<Source, Failures>>,
}

struct Failures {
    count: u32,
    since: Instant,
}

impl Throttle {
    /// Refuses a source that has failed too often.
    pub(crate) fn check(&self, source: &Source, now: Instant) -> Result<(), Refusal> {
        match locked(&self.failures).get(source) {
            Some(failures) if failures.count >= FAILURES => {
                let wait = (failures.since + WINDOW).saturating_duration_since(now);
                if wait.is_zero() { Ok(()) } else { Err(Refusal::TooMany { who: source.to_string(), wait }) }
            }
            _ => Ok(()),
        }
    }

    /// Remembers a failure.
    pub(crate) fn failed(&self, source: &Source, now: Instant) {
        let mut all = locked(&self.failures);
        all.retain(|_, failures| now.saturating_duration_since(failures.since) < WINDOW);
        if all.len() >= MOST && !all.contains_key(source) {
            // The stranger with the fewest failures is the least loss: who is being held back stays held back.
            let rank = |(source, failures): &(&Source, &Failures)| (!source.is_stranger(), failures.count);
            let least = all.iter().min_by_key(rank).map(|(source, _)| source.clone());
            least.and_then(|least| all.remove(&least));
        }
        let failures = all.entry(source.clone()).or_insert(Failures { count: 0, since: now });
        failures.count = failures.count.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn at(address: [u8; 4]) -> Source {
        Source::Address(IpAddr::from(address))
    }

    #[test]
    fn a_source_waits_and_is_heard_again() {
        let throttle = Throttle::default();
        let begun = Instant::now();
        let (one, other) = (at([192, 0, 2, 1]), at([192, 0, 2, 2]));
        for _ in 0..FAILURES {
            assert_eq!(throttle.check(&one, begun), Ok(()));
            throttle.failed(&one, begun);
        }
        let later = begun + Duration::from_secs(20);
        let wait = Duration::from_secs(40);
        assert_eq!(throttle.check(&one, later), Err(Refusal::TooMany { who: "192.0.2.1".into(), wait }));
        assert_eq!(throttle.check(&other, later), Ok(()));
        assert_eq!(
            throttle.check(&Source::Certificate("agent".into(), [192, 0, 2, 1].into()), later),
            Ok(()),
            "whatever its address"
        );
        assert_eq!(throttle.check(&one, begun + WINDOW), Ok(()));
    }

    #[test]
    fn memory_is_bounded_and_keeps_the_worst_and_the_certified() {
        let throttle = Throttle::default();
        let now = Instant::now();
        let (worst, certified) = (at([10, 1, 1, 1]), Source::Certificate("agent".into(), [192, 0, 2, 1].into()));
        for _ in 0..FAILURES {
            throttle.failed(&worst, now);
        }
        throttle.failed(&certified, now);
        for number in 0..8_u8 {
            for last in 0..=u8::MAX {
                throttle.failed(&at([10, 2, number, last]), now);
            }
        }
        let kept = locked(&throttle.failures);
        assert!(kept.len() == MOST && kept.contains_key(&certified) && kept.contains_key(&worst));
    }
}
