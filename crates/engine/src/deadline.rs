//! A deadline that moves on while there is progress.

use std::time::Duration;

use tokio::time::Instant;

/// Waits as long as something moves: each new `progress` gives the full time again.
pub(crate) struct Deadline {
    limit: Duration,
    progress: String,
    moved: Instant,
}

impl Deadline {
    pub(crate) fn new(limit: Duration, now: Instant) -> Self {
        Self { limit, progress: String::new(), moved: now }
    }

    /// True while waiting on makes sense.
    pub(crate) fn goes_on(&mut self, progress: &str, now: Instant) -> bool {
        if self.progress != progress {
            progress.clone_into(&mut self.progress);
            self.moved = now;
        }
        now.duration_since(self.moved) < self.limit
    }

    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_buys_time_and_standing_still_does_not() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut deadline = Deadline::new(Duration::from_secs(10), start);
        for (second, progress, goes_on) in [
            (0, "0 of 3", true),
            (9, "0 of 3", true),
            (9, "1 of 3", true),
            (18, "1 of 3", true),
            (19, "1 of 3", false),
            (19, "2 of 3", true),
        ] {
            assert_eq!(deadline.goes_on(progress, at(second)), goes_on, "at {second} s with {progress}");
        }
    }
}
