//! The Secret has all that is needed, and its token holds.

use checks::{Check, Checking, Finding, Inconclusive, Part};
use jiff::Timestamp;
use upgrades::names::key;

use crate::{Secret, codes, drivers::Subject};

/// See [`super`].
pub(super) const CHECK: Check<Subject> =
    Check::new("secret", "the Secret has all keys, and its token holds", &[codes::MISSING_KEY, codes::EXPIRED], check);

const NEEDED: [&str; 6] = [key::BOOTSTRAP_URL, key::BOOTSTRAP_TOKEN, key::CA, key::WORKER, key::CLUSTER, key::REGION];

fn check(subject: &Subject) -> Checking<'_> {
    Box::pin(async { evaluate(&subject.run.secret, &subject.run.order.secret, subject.host.clock.now()) })
}

fn evaluate(secret: &Secret, name: &str, now: Timestamp) -> Result<Vec<Finding>, Inconclusive> {
    let missing: Vec<&str> = NEEDED.into_iter().filter(|key| secret.get(key).is_none()).collect();
    let mut found = Vec::new();
    if !missing.is_empty() {
        let message = format!("the Secret {name} lacks {}", missing.join(", "));
        found.push(Finding::cause(codes::MISSING_KEY, Part::Machine, message));
    }
    if let Some(expires) = secret.get(key::EXPIRES) {
        let unreadable =
            |_| Inconclusive(format!("`{}` of the Secret {name} is no time as RFC 3339 has it", key::EXPIRES));
        let expires: Timestamp = expires.parse().map_err(unreadable)?;
        if expires <= now {
            let message = format!("the token in the Secret {name} has expired at {expires}");
            found.push(Finding::cause(codes::EXPIRED, Part::Machine, message));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{
        super::super::testing::{Machine, with},
        *,
    };

    #[tokio::test]
    async fn keys_and_time() {
        let mut reported = String::new();
        for other in [
            vec![],
            vec![("bootstrap-token", " \n"), ("region", "")],
            vec![("expires", "2026-11-19T02:00:01Z")],
            vec![("expires", "2026-11-19T01:59:59Z"), ("ca.crt", "")],
            vec![("expires", "tomorrow")],
        ] {
            reported += &Machine::default().checked(&CHECK, &with("a", &other)).await;
        }
        insta::assert_snapshot!(reported);
    }
}
