//! Whoever fails too often from one address has to wait.

use std::{collections::HashMap, net::IpAddr, sync::Mutex, time::Duration};

use tokio::time::Instant;

use super::outside::locked;
use crate::Refusal;

/// How many failures within a window are heard before an address has to wait.
const FAILURES: u32 = 10;
const WINDOW: Duration = Duration::from_mins(1);
/// How many addresses are remembered.
const MOST: usize = 1024;

/// Failed attempts by address, within a window that begins with the first of them.
#[derive(Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<IpAddr, Failures>>,
}

struct Failures {
    count: u32,
    since: Instant,
}

impl Throttle {
    /// Refuses an address that has failed too often.
    pub(crate) fn check(&self, address: IpAddr, now: Instant) -> Result<(), Refusal> {
        match locked(&self.failures).get(&address) {
            Some(failures) if failures.count >= FAILURES => {
                let wait = (failures.since + WINDOW).saturating_duration_since(now);
                if wait.is_zero() { Ok(()) } else { Err(Refusal::TooMany { address, wait }) }
            }
            _ => Ok(()),
        }
    }

    /// Remembers a failure.
    pub(crate) fn failed(&self, address: IpAddr, now: Instant) {
        let mut all = locked(&self.failures);
        all.retain(|_, failures| now.saturating_duration_since(failures.since) < WINDOW);
        if all.len() >= MOST && !all.contains_key(&address) {
            // The one with the fewest failures is the least loss: who is being held back stays held back.
            let least = all.iter().min_by_key(|(_, failures)| failures.count).map(|(address, _)| *address);
            least.and_then(|least| all.remove(&least));
        }
        let failures = all.entry(address).or_insert(Failures { count: 0, since: now });
        failures.count = failures.count.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_waits_and_is_heard_again() {
        let throttle = Throttle::default();
        let begun = Instant::now();
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        for _ in 0..FAILURES {
            assert_eq!(throttle.check(one, begun), Ok(()));
            throttle.failed(one, begun);
        }
        let later = begun + Duration::from_secs(20);
        let wait = Duration::from_secs(40);
        assert_eq!(throttle.check(one, later), Err(Refusal::TooMany { address: one, wait }));
        assert_eq!(throttle.check(other, later), Ok(()));
        assert_eq!(throttle.check(one, begun + WINDOW), Ok(()));
    }

    #[test]
    fn memory_is_bounded_and_keeps_the_worst() {
        let throttle = Throttle::default();
        let now = Instant::now();
        let worst = IpAddr::from([10, 1, 1, 1]);
        for _ in 0..FAILURES {
            throttle.failed(worst, now);
        }
        for number in 0..8_u8 {
            for last in 0..=u8::MAX {
                throttle.failed(IpAddr::from([10, 2, number, last]), now);
            }
        }
        assert_eq!(locked(&throttle.failures).len(), MOST);
        assert!(throttle.check(worst, now).is_err());
    }
}
