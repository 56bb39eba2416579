//! The Secret has all that is needed, and its token still holds.

use checks::{Check, Checking, Finding, Part};
use jiff::Timestamp;
use upgrades::names::key;

use super::problem;
use crate::{
    Secret,
    codes::{EXPIRED, MISSING_KEY},
    drivers::Subject,
};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("secret", "the Secret has what a payload is fetched with", &[MISSING_KEY, EXPIRED], check);

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async move { Ok(evaluate(&subject.run.secret, subject.host.clock.now())) })
}

fn evaluate(secret: &Secret, now: Timestamp) -> Vec<Finding> {
    let needed = [key::IGNITION_URL, key::IGNITION_TOKEN, key::CA];
    let missing: Vec<String> =
        needed.into_iter().filter(|key| secret.get(key).is_none()).map(|key| format!("`{key}`")).collect();
    let mut found = Vec::new();
    if !missing.is_empty() {
        found.push(problem(MISSING_KEY, Part::Machine, format!("the Secret has no {}", missing.join(", "))));
    }
    match secret.get(key::EXPIRES).map(str::parse::<Timestamp>) {
        Some(Ok(end)) if end <= now => {
            found.push(problem(EXPIRED, Part::Machine, format!("the token expired at {end}; it is {now} now")));
        }
        Some(Err(_)) => {
            let evidence = "the Secret's key `expires` is no time as RFC 3339 has it";
            found.push(Finding::warning(EXPIRED, Part::Machine, evidence));
        }
        _ => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_and_what_has_expired() {
        let mut reported = String::new();
        let whole = [(key::IGNITION_URL, "u"), (key::IGNITION_TOKEN, "hunter2"), (key::CA, "c")];
        for (case, more) in [
            ("whole", None),
            ("holds", Some("2026-11-17T03:00:00Z")),
            ("expired", Some("2026-11-17T02:00:00+01:00")),
            ("unreadable", Some("tomorrow")),
        ] {
            let data = whole.into_iter().chain(more.map(|time| (key::EXPIRES, time)));
            let data = data.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            let found = evaluate(&Secret::new(data), "2026-11-17T02:00:00Z".parse().unwrap());
            reported +=
                &format!("{case}: {:?}\n", found.iter().map(|one| (one.kind, &one.evidence)).collect::<Vec<_>>());
        }
        let nothing = evaluate(&Secret::default(), Timestamp::UNIX_EPOCH);
        insta::assert_snapshot!(format!("{reported}nothing: {}\n", nothing[0].evidence));
    }
}
