//! The node's clock is that of the server which has sent the payload: certificates and packages are refused by a clock that is wrong.

use checks::{Check, Checking, Finding, Inconclusive, Part};
use jiff::{SignedDuration, Timestamp};

use super::inconclusive;
use crate::{
    codes,
    drivers::{Subject, rhel::payload},
};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("clock", "the clock is within 5 min of the bootstrap API's", &[codes::CLOCK_SKEW], check);

const MOST: SignedDuration = SignedDuration::from_mins(5);

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async {
        let known = payload::of(&subject.run, &*subject.host.disk).map_err(|error| inconclusive(&error))?;
        let unsaid = || Inconclusive("the bootstrap API does not say what time it has".to_owned());
        Ok(evaluate(known.fetched, known.server_time.ok_or_else(unsaid)?))
    })
}

fn evaluate(ours: Timestamp, theirs: Timestamp) -> Vec<Finding> {
    let apart = ours.duration_since(theirs);
    if apart.abs() <= MOST {
        return Vec::new();
    }
    let side = if apart.is_positive() { "ahead of" } else { "behind" };
    let message = format!("clock skew: this node is {} s {side} the bootstrap API", apart.abs().as_secs());
    vec![Finding::cause(codes::CLOCK_SKEW, Part::Machine, message)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_minutes_are_too_much() {
        let theirs = "2026-11-19T02:00:00Z".parse().unwrap();
        for (ours, expected) in [
            ("2026-11-19T02:05:00Z", None),
            ("2026-11-19T01:55:00Z", None),
            ("2026-11-19T02:05:01Z", Some("clock skew: this node is 301 s ahead of the bootstrap API")),
            ("2026-11-19T01:00:00Z", Some("clock skew: this node is 3600 s behind the bootstrap API")),
        ] {
            let found = evaluate(ours.parse().unwrap(), theirs);
            assert_eq!(found.first().map(|found| found.evidence.as_str()), expected);
        }
    }
}
