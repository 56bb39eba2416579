//! The node's clock says what the ignition server's says.

use checks::{Check, Checking, Finding, Inconclusive, Part};
use jiff::{SignedDuration, Timestamp, fmt::rfc2822};

use super::{super::stored, problem};
use crate::{codes::CLOCK_SKEW, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("clock", "the clock agrees with the ignition server's", &[CLOCK_SKEW], check);

const MOST: SignedDuration = SignedDuration::from_mins(5);

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async move {
        let note = stored::read_note(&*subject.host.disk, &subject.run.order.run)?;
        let note = note.ok_or_else(|| Inconclusive("no payload was fetched".to_owned()))?;
        let date = note.date.ok_or_else(|| Inconclusive("the ignition server did not say its time".to_owned()))?;
        evaluate(&date, note.at)
    })
}

fn evaluate(date: &str, at: Timestamp) -> Result<Vec<Finding>, Inconclusive> {
    let server =
        rfc2822::parse(date).map_err(|_| Inconclusive("the ignition server's time is unreadable".to_owned()))?;
    let skew = at.duration_since(server.timestamp());
    if skew.abs() <= MOST {
        return Ok(Vec::new());
    }
    let direction = if skew.is_negative() { "behind" } else { "ahead of" };
    let evidence = format!("clock skew: this node is {} s {direction} the ignition server", skew.as_secs().abs());
    Ok(vec![problem(CLOCK_SKEW, Part::Machine, evidence)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_minutes_are_forgiven() {
        let at = "2026-11-17T02:00:00Z".parse().unwrap();
        for (date, seen) in [
            ("Tue, 17 Nov 2026 02:00:00 GMT", Ok("")),
            ("Tue, 17 Nov 2026 02:05:00 GMT", Ok("")),
            ("Tue, 17 Nov 2026 02:05:01 GMT", Ok("clock skew: this node is 301 s behind the ignition server")),
            ("Tue, 17 Nov 2026 01:50:00 GMT", Ok("clock skew: this node is 600 s ahead of the ignition server")),
            ("soon", Err("the ignition server's time is unreadable")),
        ] {
            let found =
                evaluate(date, at).map(|found| found.first().map(|one| one.evidence.clone()).unwrap_or_default());
            assert_eq!(found, seen.map(str::to_owned).map_err(|why| Inconclusive(why.to_owned())));
        }
    }
}
