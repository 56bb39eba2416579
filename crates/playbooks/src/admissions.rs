//! What masters remember of admitted nodes, as commands and steps on a master change it: in the API, from where the masters'
//! agents take it up within seconds.

use engine::StepError;
use jiff::Timestamp;
use join::{ADMISSIONS, Admission, Admissions, Unreadable};
use kubeapi::{Client, ReconcileError};

use crate::access;

/// What is remembered of every node.
pub async fn read(client: &Client) -> Result<Admissions, StepError> {
    update(client, |held| held).await
}

/// Lets `change` say what is to be remembered of a node, and returns what is then.
pub async fn change(
    client: &Client,
    node: &str,
    change: impl Fn(Admission) -> Admission,
) -> Result<Admission, StepError> {
    let changed = |mut all: Admissions| {
        let wanted = change(all.of(node));
        all.add(node, &wanted);
        all
    };
    update(client, changed).await.map(|all| all.of(node))
}

/// The cluster's keys may be given once more to a machine of this name.
pub async fn rearm(client: &Client, node: &str, now: Timestamp) -> Result<Admission, StepError> {
    change(client, node, |admission| admission.rearmed(now)).await
}

async fn update(client: &Client, change: impl Fn(Admissions) -> Admissions) -> Result<Admissions, StepError> {
    let decide = |held: Option<&_>| {
        let held = held.map(Admissions::read).transpose()?.unwrap_or_default();
        let wanted = change(held.clone());
        Ok::<_, Unreadable>((wanted != held).then(|| wanted.data()))
    };
    let data = kubeapi::reconcile_secret(client, ADMISSIONS, decide).await.map_err(|error| match error {
        ReconcileError::Api(error) => access::failed(&error),
        ReconcileError::Content(error) => StepError::from_explained(&error),
    })?;
    Admissions::read(&data).map_err(|error| StepError::from_explained(&error))
}
