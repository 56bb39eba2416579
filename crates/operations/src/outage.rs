//! Logging once that something does not work, and once that it works again, instead of every time.

use std::{
    fmt::Display,
    time::{Duration, Instant},
};

use explain::Explain;

/// Whether something works, since when it does not, and the reason that was logged.
#[derive(Debug)]
pub struct Outage {
    what: &'static str,
    since: Option<(Instant, String)>,
}

impl Outage {
    /// `what` is a thing that can be done: "follow the nodes".
    pub fn new(what: &'static str) -> Self {
        Self { what, since: None }
    }

    /// It failed. Logged the first time only, whatever the reasons are.
    pub fn failed(&mut self, why: &dyn Display) {
        if self.since.is_some() {
            tracing::debug!(%why, "still cannot {}", self.what);
            return;
        }
        self.begin(why.to_string());
        tracing::warn!(%why, "cannot {}; retrying", self.what);
    }

    /// It failed with this error. Logged the first time, and again when the reason is another one.
    pub fn failed_with(&mut self, error: &dyn Explain, reason: String) {
        if self.since.as_ref().is_some_and(|(_, logged)| *logged == reason) {
            return;
        }
        self.begin(reason);
        let why = error.diagnostic().message;
        tracing::warn!(code = error.code().id, hint = error.advice(), "cannot {}: {why}; retrying", self.what);
    }

    fn begin(&mut self, reason: String) {
        let since = self.since.take().map_or_else(Instant::now, |(since, _)| since);
        self.since = Some((since, reason));
    }

    /// For how long it has been failing.
    pub fn lasting(&self) -> Option<Duration> {
        self.since.as_ref().map(|(since, _)| since.elapsed())
    }

    /// It worked.
    pub fn over(&mut self) {
        if let Some((since, _)) = self.since.take() {
            tracing::info!(after_seconds = since.elapsed().as_secs(), "can {} again", self.what);
        }
    }
}

#[cfg(test)]
mod tests {
    use kubeapi::ApiError;

    use super::*;

    #[test]
    fn it_lasts_from_the_first_failure_to_the_first_success() {
        let mut outage = Outage::new("test");
        let refused = ApiError::Unreachable { doing: "test".to_owned(), why: "connection refused".to_owned() };
        assert_eq!(outage.lasting(), None);
        outage.failed(&"first");
        let since = outage.since.clone();
        outage.failed(&"second");
        assert!(outage.lasting().is_some() && outage.since == since);
        outage.failed_with(&refused, "third".to_owned());
        let began = |outage: &Outage| outage.since.as_ref().map(|(began, _)| *began);
        assert_eq!(began(&outage), since.map(|(began, _)| began));
        assert_eq!(outage.since.as_ref().map(|(_, reason)| reason.as_str()), Some("third"));
        outage.over();
        assert_eq!(outage.lasting(), None);
    }
}
