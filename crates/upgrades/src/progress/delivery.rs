//! What an answer of the API changes. Pure.
//!
//! ```text
//! 2xx                                    delivered: the next is sent at once
//! 410                                    stops for good
//! other 4xx                              refused: that event is dropped, and the cause reported
//! 429, 503 with Retry-After              sent again then, in five minutes at most
//! 408, 425, 5xx, 3xx, network            sent again after 1 s, 2 s, 4 s, … five minutes
//! undelivered for a day                  dropped, and the cause reported
//! ```

use explain::{Code, Diagnostic, counted};
use jiff::{SignedDuration, Timestamp, fmt::rfc2822};
use reqwest::StatusCode;

use super::Outbox;
use crate::codes;

/// Between two attempts, at most.
const LONGEST: SignedDuration = SignedDuration::from_mins(5);
/// Between two attempts, at least: a server that asks for none would be asked without end.
const SHORTEST: SignedDuration = SignedDuration::from_secs(1);
/// For so long an event is tried.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// What came of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Of this event.
    pub seq: u64,
    /// What came.
    pub outcome: Outcome,
}

/// What came of an attempt. Without any secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The API answered.
    Answered {
        /// The status.
        status: StatusCode,
        /// The header `Retry-After`, as it is.
        retry_after: Option<String>,
        /// What it says about it, in a line.
        text: String,
    },
    /// It did not, because of this.
    Unanswered(String),
}

impl Outbox {
    /// After this answer; the same where it is about an event that is not there any more.
    #[must_use]
    pub fn after(&self, answer: &Answer, now: Timestamp) -> Self {
        let mut outbox = self.clone();
        if outbox.events.first().is_none_or(|first| first.seq != answer.seq) {
            return outbox;
        }
        match &answer.outcome {
            Outcome::Answered { status, .. } if status.is_success() => {
                outbox.events.remove(0);
                outbox.deliver(None);
            }
            Outcome::Answered { status: StatusCode::GONE, .. } => {
                outbox.stopped = true;
                outbox.drop_where(|_| true);
                let message = format!("{answer}: nothing more is reported");
                outbox.deliver(Some(diagnostic(codes::PROGRESS_REFUSED, message)));
            }
            Outcome::Answered { status, .. } if is_refused(*status) => {
                outbox.drop_where(|event| event.seq == answer.seq);
                outbox.deliver(Some(diagnostic(codes::PROGRESS_REFUSED, answer.to_string())));
            }
            outcome => outbox.fail(answer, asked_for(outcome, now), now),
        }
        outbox
    }

    /// The API has decided on an event.
    fn deliver(&mut self, error: Option<Diagnostic<String>>) {
        (self.failures, self.not_before, self.first_failure) = (0, None, None);
        self.last_error = error;
    }

    fn fail(&mut self, answer: &Answer, asked_for: Option<SignedDuration>, now: Timestamp) {
        let wait = asked_for.unwrap_or_else(|| back_off(self.failures));
        self.failures += 1;
        self.not_before = now.checked_add(wait).ok();
        let first_failure = *self.first_failure.get_or_insert(now);
        // Counted from the first failure: while no controller ran, nothing was tried.
        let dropped = self.drop_where(|event| now.duration_since(event.at.max(first_failure)) >= DAY);
        self.last_error = Some(if dropped == 0 {
            diagnostic(codes::PROGRESS_DELAYED, answer.to_string())
        } else {
            let reports = counted(dropped, "report");
            diagnostic(codes::PROGRESS_UNDELIVERED, format!("{reports} dropped after a day; {answer}"))
        });
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.outcome {
            Outcome::Answered { status, text, .. } => {
                let separator = if text.is_empty() { "" } else { ": " };
                write!(f, "the progress API answers {status}{separator}{text}")
            }
            Outcome::Unanswered(why) => write!(f, "the progress API does not answer: {why}"),
        }
    }
}

/// Whether sending the very same again cannot help.
fn is_refused(status: StatusCode) -> bool {
    let is_temporary =
        matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS);
    status.is_client_error() && !is_temporary
}

/// For how long the API wants to be left alone: seconds, or a date.
fn asked_for(outcome: &Outcome, now: Timestamp) -> Option<SignedDuration> {
    let Outcome::Answered { status, retry_after: Some(text), .. } = outcome else { return None };
    if !matches!(*status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    let text = text.trim();
    let wait = match text.parse::<u32>() {
        Ok(seconds) => SignedDuration::from_secs(seconds.into()),
        Err(_) => rfc2822::parse(text).ok()?.timestamp().duration_since(now),
    };
    Some(wait.clamp(SHORTEST, LONGEST))
}

fn back_off(failures: usize) -> SignedDuration {
    // 2^9 s is more than five minutes.
    SignedDuration::from_secs(1 << failures.min(9)).min(LONGEST)
}

fn diagnostic(code: Code, message: impl Into<String>) -> Diagnostic<String> {
    Diagnostic::new(code, message).recorded()
}

#[cfg(test)]
mod tests;
