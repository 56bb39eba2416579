//! What time it is, so that tests can say it.

use jiff::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The wall clock.
    fn now(&self) -> Timestamp;
}

/// The machine's own clock.
///
/// A debug build adds the seconds of `BLACKSTART_CLOCK_OFFSET`: machines of a lab share one clock, which is nobody's to set.
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        #[cfg(debug_assertions)]
        if let Some(offset) = std::env::var("BLACKSTART_CLOCK_OFFSET").ok().and_then(|seconds| seconds.parse().ok()) {
            return now.saturating_add(jiff::SignedDuration::from_secs(offset)).unwrap_or(now);
        }
        now
    }
}

/// A clock that stands still.
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}
