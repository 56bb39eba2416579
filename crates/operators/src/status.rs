//! The statuses of `ClusterOperators` and of the `ClusterVersion`. Pure: what they were says since when a condition holds.

use jiff::{Timestamp, Unit};
use serde_json::{Value, json};

use crate::{
    evaluate::{Operator, evaluate},
    objects::Object,
    seen::Seen,
};

/// How many versions are remembered.
const HISTORY: usize = 10;

/// The statuses that all objects should have; `before` gives those that they have.
pub fn statuses(seen: &Seen, before: impl Fn(Object) -> Value, now: Timestamp) -> Vec<(Object, Value)> {
    let now = now.round(Unit::Second).unwrap_or(now);
    let operators = evaluate(seen);
    let version = version_status(seen, &operators, &before(Object::Version), now);
    let of_operators = operators.iter().map(|operator| {
        let object = Object::Operator(operator.name);
        (object, operator_status(seen, operator, &before(object), now))
    });
    of_operators.chain([(Object::Version, version)]).collect()
}

fn operator_status(seen: &Seen, Operator { health, .. }: &Operator, before: &Value, now: Timestamp) -> Value {
    let is = |kind, holds| condition(before, kind, holds, health.reason(), health.message(), now);
    let conditions = [
        is("Available", health.is_available()),
        is("Progressing", health.is_progressing()),
        is("Degraded", health.is_degraded()),
    ];
    // What is not as it should be has not arrived at this version.
    let is_there = health.is_available() && !health.is_progressing() && !seen.version.is_empty();
    let versions =
        if is_there { json!([{ "name": "operator", "version": seen.version }]) } else { before["versions"].clone() };
    let mut status = json!({ "conditions": conditions });
    if !versions.is_null() {
        status["versions"] = versions;
    }
    status
}

fn version_status(seen: &Seen, operators: &[Operator], before: &Value, now: Timestamp) -> Value {
    let names = |is: fn(&Operator) -> bool| {
        operators.iter().filter(|operator| is(operator)).map(|operator| operator.name).collect::<Vec<_>>().join(", ")
    };
    let unavailable = names(|operator| !operator.health.is_available());
    let degraded = names(|operator| operator.health.is_degraded());
    let progressing = names(|operator| operator.health.is_progressing());
    let is_progressing = !seen.is_complete || !progressing.is_empty();
    let is_available = seen.is_complete && unavailable.is_empty();
    let failing = if degraded.is_empty() { String::new() } else { format!("degraded: {degraded}") };
    let message = match (seen.is_complete, is_progressing, degraded.is_empty()) {
        (false, _, false) => "waiting for masters".to_owned(),
        (false, _, true) => "the bootstrap node hands over to the masters".to_owned(),
        (true, true, _) => format!("working towards {}: {progressing}", seen.version),
        (true, false, true) => format!("cluster version is {}", seen.version),
        (true, false, false) => format!("cluster version is {}, {failing}", seen.version),
    };
    let is = |kind, holds, message: &str| {
        let reason = if seen.is_complete { "AsExpected" } else { "Bootstrapping" };
        condition(before, kind, holds, reason, message, now)
    };
    let conditions = [
        is(
            "Available",
            is_available,
            &if unavailable.is_empty() { String::new() } else { format!("not available: {unavailable}") },
        ),
        is("Failing", !degraded.is_empty(), &failing),
        is("Progressing", is_progressing, &message),
    ];
    let history = history(before, &seen.version, is_available && !is_progressing, now);
    let mut status = json!({ "history": history, "conditions": conditions });
    if !seen.version.is_empty() {
        status["desired"] = json!({ "version": seen.version });
    }
    status
}

/// The newest version comes first. One that was reached once stays so, whatever fails later.
fn history(before: &Value, version: &str, is_reached: bool, now: Timestamp) -> Vec<Value> {
    let mut all = before["history"].as_array().cloned().unwrap_or_default();
    if version.is_empty() {
        return all;
    }
    if all.first().is_none_or(|newest| newest["version"] != version) {
        all.insert(0, json!({ "version": version, "state": "Partial", "startedTime": now }));
    }
    if let Some(newest) = all.first_mut().filter(|newest| is_reached && newest["state"] != "Completed") {
        newest["state"] = "Completed".into();
        newest["completionTime"] = json!(now);
    }
    all.truncate(HISTORY);
    all
}

/// A condition, with the time since when it is as it is.
fn condition(before: &Value, kind: &str, holds: bool, reason: &str, message: &str, now: Timestamp) -> Value {
    let status = if holds { "True" } else { "False" };
    let known = before["conditions"].as_array().into_iter().flatten();
    let mut same = known.filter(|one| one["type"] == kind && one["status"] == status);
    let since = same.find_map(|one| one["lastTransitionTime"].as_str()?.parse().ok());
    let since: Timestamp = since.unwrap_or(now);
    json!({ "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::seen::{Api, Leader, Node, Replicas};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn whole(version: &str) -> Seen {
        let node = Node {
            name: "m1".into(),
            api: Some(Api::Ready),
            not_ready: None,
            no_network: None,
            version: version.into(),
        };
        Seen {
            version: version.into(),
            is_complete: true,
            nodes: vec![node],
            controller_manager: Leader::Leads("m1".into()),
            scheduler: Leader::Leads("m1".into()),
            dns: Some(Replicas { ready: 2, wanted: 2 }),
            ..Seen::nothing(1)
        }
    }

    /// Statuses one after the other, each made of the one before.
    fn replay(story: &[Seen]) -> BTreeMap<Object, Value> {
        let mut held: BTreeMap<Object, Value> = BTreeMap::new();
        for (second, seen) in (0..).step_by(10).zip(story) {
            let next = statuses(seen, |object| held.get(&object).cloned().unwrap_or_default(), at(second));
            held = next.into_iter().collect();
        }
        held
    }

    fn since(status: &Value, kind: &str) -> String {
        let found = status["conditions"].as_array().unwrap().iter().find(|one| one["type"] == kind).unwrap();
        let time: Timestamp = found["lastTransitionTime"].as_str().unwrap().parse().unwrap();
        format!("{} since {}", found["status"].as_str().unwrap(), time.as_second() - at(0).as_second())
    }

    #[test]
    fn a_condition_keeps_its_time_until_it_changes() {
        let broken = Seen { dns: Some(Replicas { ready: 1, wanted: 2 }), ..whole("1.36.3") };
        let other_message = Seen { dns: Some(Replicas { ready: 1, wanted: 3 }), ..whole("1.36.3") };
        let story = [Seen::nothing(1), whole("1.36.3"), broken.clone(), broken, other_message];
        let held = replay(&story);
        let dns = &held[&Object::Operator("dns")];
        assert_eq!(
            ["Available", "Progressing", "Degraded"].map(|kind| since(dns, kind)),
            ["True since 10", "False since 10", "True since 20"]
        );
        let version = &held[&Object::Version];
        assert_eq!(
            ["Available", "Failing", "Progressing"].map(|kind| since(version, kind)),
            ["True since 10", "True since 20", "False since 10"]
        );
    }

    #[test]
    fn what_people_and_scripts_read() {
        let held = replay(&[Seen::nothing(1)]);
        insta::assert_json_snapshot!("first", [&held[&Object::Operator("etcd")], &held[&Object::Version]]);
        let held = replay(&[Seen::nothing(1), whole("1.36.3"), whole("1.36.4")]);
        insta::assert_json_snapshot!("upgraded", [&held[&Object::Operator("etcd")], &held[&Object::Version]]);
    }

    #[test]
    fn versions_are_remembered_up_to_a_number() {
        let versions: Vec<String> = (0..15).map(|minor| format!("1.{minor}.0")).collect();
        let held = replay(&versions.iter().map(|version| whole(version)).collect::<Vec<_>>());
        let history = held[&Object::Version]["history"].as_array().unwrap().clone();
        assert_eq!((history.len(), &history[0]["version"]), (HISTORY, &json!("1.14.0")));
    }

    #[test]
    fn the_same_sight_changes_nothing() {
        assert_eq!(replay(&[whole("1.36.3")]), replay(&[whole("1.36.3"), whole("1.36.3")]));
    }
}
