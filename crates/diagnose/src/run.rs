//! Runs looks: all at once, none longer than its limit.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::timeout;

use crate::{
    Context, Diagnosis, Look,
    finding::CouldNotLook,
    narrow::{Unseen, narrow},
};

/// The whole diagnosis is there soon after: looks do not wait for each other.
const LIMIT: Duration = Duration::from_secs(12);

/// Looks at everything that is meant for this node.
pub async fn run(looks: &[Look], context: &Context<'_>) -> Diagnosis {
    let meant = looks.iter().filter(|look| look.roles.include(context.role()));
    let looked = join_all(meant.map(async |look| (look.name, one(look, context).await))).await;
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for (name, outcome) in looked {
        match outcome {
            Ok(findings) => found.extend(findings),
            Err(CouldNotLook(why)) => unknown.push(Unseen { look: name.to_owned(), why }),
        }
    }
    narrow(found, unknown)
}

async fn one(look: &Look, context: &Context<'_>) -> Result<Vec<crate::Finding>, CouldNotLook> {
    let within = timeout(LIMIT, (look.look)(context)).await;
    within.unwrap_or_else(|_| Err(CouldNotLook(format!("no answer within {} s", LIMIT.as_secs()))))
}
