//! Runs looks: all at once, none longer than its limit.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::timeout;

use crate::{
    Check, Context, Diagnosis,
    finding::Inconclusive,
    narrow::{InconclusiveCheck, narrow},
};

/// The whole diagnosis is there soon after: looks do not wait for each other.
const LIMIT: Duration = Duration::from_secs(12);

/// Looks at everything that is meant for this node.
pub async fn run(checks: &[Check], context: &Context<'_>) -> Diagnosis {
    let meant = checks.iter().filter(|check| check.roles.include(context.role()));
    let checked = join_all(meant.map(async |check| (check.name, one(check, context).await))).await;
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for (name, outcome) in checked {
        match outcome {
            Ok(findings) => found.extend(findings),
            Err(Inconclusive(why)) => unknown.push(InconclusiveCheck { check: name.to_owned(), why }),
        }
    }
    narrow(found, unknown)
}

async fn one(check: &Check, context: &Context<'_>) -> Result<Vec<crate::Finding>, Inconclusive> {
    let within = timeout(LIMIT, (check.run)(context)).await;
    within.unwrap_or_else(|_| Err(Inconclusive(format!("no answer within {} s", LIMIT.as_secs()))))
}
