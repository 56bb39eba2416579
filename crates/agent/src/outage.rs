//! Saying once that something does not work, and once that it works again, instead of every time.

use std::{
    fmt::Display,
    time::{Duration, Instant},
};

/// Whether something works, and since when it does not.
#[derive(Debug)]
pub(crate) struct Outage {
    what: &'static str,
    since: Option<Instant>,
}

impl Outage {
    /// `what` is a thing that can be done: "follow the nodes".
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, since: None }
    }

    /// It failed. Logged the first time only.
    pub(crate) fn failed(&mut self, why: &dyn Display) {
        if self.since.is_some() {
            tracing::debug!(%why, "still cannot {}", self.what);
            return;
        }
        self.since = Some(Instant::now());
        tracing::warn!(%why, "cannot {}; retrying", self.what);
    }

    /// For how long it has been failing.
    pub(crate) fn lasting(&self) -> Option<Duration> {
        self.since.map(|since| since.elapsed())
    }

    /// It worked.
    pub(crate) fn over(&mut self) {
        if let Some(since) = self.since.take() {
            tracing::info!(after_seconds = since.elapsed().as_secs(), "can {} again", self.what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_from_the_first_failure_to_the_first_success() {
        let mut outage = Outage::new("test");
        assert_eq!(outage.lasting(), None);
        outage.failed(&"first");
        let since = outage.since;
        outage.failed(&"second");
        assert!(outage.lasting().is_some() && outage.since == since);
        outage.over();
        assert_eq!(outage.lasting(), None);
    }
}
