//! What the pod of the Deployment `cluster-version-operator` does until SIGTERM or SIGINT.

use std::{collections::BTreeMap, time::Duration};

use explain::Explain;
use jiff::Timestamp;
use kubeapi::ApiError;
use serde_json::Value;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{sleep, timeout},
};

use crate::{OperatorError, objects, objects::Object, observe::Observer, status::statuses};

/// Between two rounds.
const PAUSE: Duration = Duration::from_secs(5);
/// For one round.
const ROUND: Duration = Duration::from_mins(1);

/// What is worth a line in the log, for `tracing_subscriber::EnvFilter`. The client library logs every failed attempt on its
/// own; the operator says it once.
pub const LOG_FILTER: &str = "info,kube_client=off,tower=off";

/// Keeps the conditions of a cluster that is to have so many masters.
pub async fn run(masters: usize, hosts: &[(String, String)]) -> Result<(), OperatorError> {
    let handler = |kind| signal(kind).map_err(OperatorError::Signals);
    let (mut terminate, mut interrupt) = (handler(SignalKind::terminate())?, handler(SignalKind::interrupt())?);
    let observer = Observer::in_cluster(masters, hosts)?;
    tracing::info!(masters, "started");
    tokio::select! {
        () = forever(observer) => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

async fn forever(mut observer: Observer) {
    let mut failure = None;
    loop {
        let done = timeout(ROUND, round(&mut observer)).await.unwrap_or_else(|_| {
            let why = format!("no answer within {} s", ROUND.as_secs());
            Err(ApiError::Unreachable { doing: "read the cluster's state".to_owned(), why }.into())
        });
        // Once when it begins, once when it is over.
        let why = done.err().map(|error| (error.code().id, error.advice(), explain::chain(&error)));
        match (&failure, &why) {
            (None, Some((code, hint, why))) => tracing::warn!(code, hint, "{why}; retrying"),
            (Some(_), None) => tracing::info!("the API answers again"),
            _ => {}
        }
        failure = why;
        sleep(PAUSE).await;
    }
}

/// Looks once, and writes what differs.
async fn round(observer: &mut Observer) -> Result<(), OperatorError> {
    let seen = observer.observe().await?;
    let mut before: BTreeMap<Object, Value> = BTreeMap::new();
    for object in Object::all() {
        before.extend(objects::read(observer.client(), object).await?.map(|status| (object, status)));
    }
    let wanted = statuses(&seen, |object| before.get(&object).cloned().unwrap_or_default(), Timestamp::now());
    for (object, status) in wanted {
        if before.get(&object) != Some(&status) {
            objects::write(observer.client(), object, &status).await?;
            tracing::info!(%object, conditions = summary(&status), "written");
        }
    }
    Ok(())
}

/// `Available=True Progressing=False Degraded=False: 3 of 3 masters`.
fn summary(status: &Value) -> String {
    let conditions = status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let word = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
    let words: Vec<String> =
        conditions.iter().map(|one| format!("{}={}", word(one, "type"), word(one, "status"))).collect();
    let message = conditions.last().map(|last| word(last, "message")).unwrap_or_default();
    format!("{}: {message}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_written_is_one_line() {
        let status = json!({ "conditions": [
            { "type": "Available", "status": "True", "message": "m" },
            { "type": "Degraded", "status": "False", "message": "3 of 3 masters" },
        ] });
        assert_eq!(summary(&status), "Available=True Degraded=False: 3 of 3 masters");
        assert_eq!(summary(&Value::Null), ": ");
    }
}
