//! A machine that Ignition made: whether it finished, with the config of this node, and in time.
//!
//! A machine that was made another way has neither our record nor Ignition's result, and nothing is reported of it.

use ignition::{RECORD, Record, codes::EXPIRED};
use jiff::Timestamp;
use playbooks::cluster::ids;
use serde::Deserialize;

use crate::{
    Check, Checking, Context, Finding, Inconclusive, Part,
    codes::{IGNITION_OTHER, IGNITION_UNFINISHED},
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "ignition",
    "the Ignition config that this machine was made from: finished, of this node, not too old",
    &[IGNITION_UNFINISHED, IGNITION_OTHER, EXPIRED],
    check,
);

/// What Ignition writes at its end.
const RESULT: &str = "/etc/.ignition-result.json";

/// What counts of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    #[serde(default)]
    user_config_provided: bool,
}

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let record = context.text(RECORD)?;
        let result = context.text(RESULT)?;
        // A node that has the cluster's keys, or its own, needs the config's secret no more.
        let has_joined = context.was_any_done(&[ids::JOIN, ids::CLUSTER_KEYS]).await?;
        let (cluster, node) = (context.cluster.name(), context.node.name.as_str());
        let seen = Seen { record: record.as_deref(), result: result.as_deref(), has_joined, cluster, node };
        evaluate(&seen, context.host.clock.now()).map(|found| found.into_iter().collect())
    })
}

struct Seen<'a> {
    record: Option<&'a str>,
    result: Option<&'a str>,
    has_joined: bool,
    cluster: &'a str,
    node: &'a str,
}

fn evaluate(seen: &Seen<'_>, now: Timestamp) -> Result<Option<Finding>, Inconclusive> {
    let Seen { result, has_joined, cluster, node, .. } = seen;
    let found = |code, evidence: String| Ok(Some(Finding::cause(code, Part::Machine, evidence)));
    let outcome = result.and_then(|text| serde_json::from_str::<Outcome>(text).ok());
    let Some(record) = seen.record else {
        return match outcome {
            Some(Outcome { user_config_provided: false }) => {
                found(IGNITION_UNFINISHED, format!("{RESULT} says that Ignition ran without a config"))
            }
            _ => Ok(None),
        };
    };
    let record: Record =
        serde_json::from_str(record).map_err(|error| Inconclusive(format!("{RECORD} cannot be read: {error}")))?;
    if result.is_none() {
        let evidence = format!("{RECORD} is there and {RESULT} is not: Ignition did not come to its end");
        return found(IGNITION_UNFINISHED, evidence);
    }
    if record.node != *node || record.cluster != *cluster {
        let (of, id) = (format!("{} of cluster {}", record.node, record.cluster), record.id);
        let evidence = format!("this machine was made from the config of {of} (id {id}), and is {node} of {cluster}");
        return found(IGNITION_OTHER, evidence);
    }
    match record.valid_until.filter(|end| *end <= now) {
        Some(end) if !has_joined => {
            let evidence = format!(
                "the config of {node} (id {}) was rendered on {:.0} and ended on {end:.0}",
                record.id, record.rendered_at
            );
            found(EXPIRED, evidence)
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_its_answer() {
        let record = |node: &str, until: &str| {
            format!(
                r#"{{"id":"1f2e","cluster":"demo","node":"{node}","renderedAt":"2026-11-01T00:00:00Z","validUntil":{until}}}"#
            )
        };
        let (done, no_config) =
            (r#"{"provisioningDate":"x","userConfigProvided":true}"#, r#"{"userConfigProvided":false}"#);
        let (own, other) = (record("master-01", "null"), record("master-02", "null"));
        let (old, new) =
            (record("master-01", "\"2026-11-08T00:00:00Z\""), record("master-01", "\"2026-12-08T00:00:00Z\""));
        let now: Timestamp = "2026-11-18T12:00:00Z".parse().unwrap();
        let reported = |record: Option<&str>, result: Option<&str>, has_joined| {
            let seen = Seen { record, result, has_joined, cluster: "demo", node: "master-01" };
            evaluate(&seen, now).unwrap().map(|finding| format!("{}: {}", finding.id(), finding.evidence))
        };
        for (record, result, has_joined) in [
            (None, None, false),
            (None, Some(done), false),
            (Some(own.as_str()), Some(done), false),
            (Some(new.as_str()), Some(done), false),
            (Some(old.as_str()), Some(done), true),
        ] {
            assert_eq!(reported(record, result, has_joined), None, "{record:?} {result:?}");
        }
        let bad = [
            reported(None, Some(no_config), false),
            reported(Some(&own), None, false),
            reported(Some(&other), Some(done), false),
            reported(Some(&old), Some(done), false),
        ];
        insta::assert_snapshot!(bad.map(Option::unwrap).join("\n"));
        let seen = Seen { record: Some("{"), result: None, has_joined: false, cluster: "demo", node: "master-01" };
        assert!(evaluate(&seen, now).is_err());
    }
}
