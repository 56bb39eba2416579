//! Logging once that something does not work, and once that it works again, instead of every time.

use explain::Explain;
use kubeapi::ApiError;
use tokio::time::Instant;

use crate::PodError;

/// Whether something works, since when it does not, and the reason that was logged.
#[derive(Debug)]
pub(super) struct Outage {
    what: &'static str,
    since: Option<(Instant, String)>,
}

impl Outage {
    /// `what` is a thing that can be done: "reach the Kubernetes API".
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, since: None }
    }

    /// It failed. Logged the first time, and again when the reason is another one.
    pub(super) fn failed(&mut self, error: &PodError) {
        let reason = reason(error);
        let began = match &self.since {
            Some((_, output)) if *output == reason => return,
            Some((began, _)) => *began,
            None => Instant::now(),
        };
        let why = explain::chain(error);
        tracing::warn!(code = error.code().id, hint = error.advice(), "cannot {}: {why}; retrying", self.what);
        self.since = Some((began, reason));
    }

    /// Whether it lasts.
    pub(super) fn lasts(&self) -> bool {
        self.since.is_some()
    }

    /// It worked.
    pub(super) fn over(&mut self) {
        if let Some((since, _)) = self.since.take() {
            tracing::info!(after_seconds = since.elapsed().as_secs(), "can {} again", self.what);
        }
    }
}

/// Without what was being done: a server that does not answer does not answer whatever it is asked.
fn reason(error: &PodError) -> String {
    match error {
        PodError::Api(ApiError::Unreachable { why, .. }) => why.clone(),
        other => explain::chain(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_answer_is_named_once() {
        let unreachable = |doing: &str| {
            PodError::from(ApiError::Unreachable { doing: doing.to_owned(), why: "connection refused".to_owned() })
        };
        assert_eq!(reason(&unreachable("take a slot")), reason(&unreachable("read the own Node")));
        assert_ne!(reason(&unreachable("take a slot")), reason(&PodError::NoNodeName));
    }

    #[tokio::test]
    async fn it_lasts_from_the_first_failure_to_the_first_success() {
        let mut outage = Outage::new("test");
        assert!(!outage.lasts());
        outage.failed(&PodError::NoNodeName);
        let began = outage.since.clone().map(|(began, _)| began);
        outage.failed(&PodError::NoAccount("another reason".into()));
        assert_eq!(outage.since.as_ref().map(|(began, _)| *began), began);
        outage.over();
        assert!(!outage.lasts());
    }
}
