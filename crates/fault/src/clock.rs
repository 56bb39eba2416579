//! A clock that is wrong, for the proofs in `tests/faults`: the machines of a lab share their computer's clock, which is
//! never set.
//!
//! `BLACKSTART_CLOCK=SECONDS` is wrong from the beginning; `BLACKSTART_CLOCK=SECONDS:N` jumps after it was asked N times.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use host::Clock;
use jiff::{SignedDuration, Timestamp};

const VARIABLE: &str = "BLACKSTART_CLOCK";

/// The given clock, or a wrong one where that is asked for.
pub fn installed(clock: Arc<dyn Clock>, note: impl Fn(&str)) -> Arc<dyn Clock> {
    let Ok(text) = std::env::var(VARIABLE) else { return clock };
    let Some((by, after)) = parsed(&text) else {
        note(&format!("{VARIABLE}={text} is ignored: it is not SECONDS or SECONDS:N\n"));
        return clock;
    };
    Arc::new(Jumping { clock, by, after, asked: AtomicUsize::new(0) })
}

fn parsed(text: &str) -> Option<(SignedDuration, usize)> {
    let (seconds, after) = text.split_once(':').unwrap_or((text, "0"));
    Some((SignedDuration::from_secs(seconds.parse().ok()?), after.parse().ok()?))
}

struct Jumping {
    clock: Arc<dyn Clock>,
    by: SignedDuration,
    after: usize,
    asked: AtomicUsize,
}

impl Clock for Jumping {
    fn now(&self) -> Timestamp {
        let now = self.clock.now();
        let has_jumped = self.asked.fetch_add(1, Ordering::SeqCst) >= self.after;
        if has_jumped { now.saturating_add(self.by).unwrap_or(now) } else { now }
    }
}

#[cfg(test)]
mod tests {
    use host::FixedClock;

    use super::*;

    #[test]
    fn it_jumps_when_it_is_due() {
        for (text, expected) in [("86400", [86400; 3]), ("-60", [-60; 3]), ("+60:2", [0, 0, 60])] {
            let (by, after) = parsed(text).unwrap();
            let clock: Arc<dyn Clock> = Arc::new(FixedClock(Timestamp::UNIX_EPOCH));
            let clock = Jumping { clock, by, after, asked: AtomicUsize::new(0) };
            assert_eq!([0; 3].map(|_: i32| clock.now().as_second()), expected, "{text}");
        }
        for text in ["", "a day", "60:", ":3"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
