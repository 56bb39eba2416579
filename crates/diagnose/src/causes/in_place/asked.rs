//! A node that asks for the work and does not get it: no Secret, nobody who does it, no pod on it. Pure.

use std::collections::BTreeSet;

use kubeapi::k8s_openapi::api::core::v1::Pod;
use upgrades::{
    NodeUpgrade, Phase, codes,
    names::{self, CONTROLLER, DAEMON_SET, GROUP, NAMESPACE, SECRET_LABEL},
};

use super::{Seen, long};
use crate::{
    Finding, Kind, Part,
    codes::{IN_PLACE_NO_DOOR, IN_PLACE_NOBODY, IN_PLACE_SECRET},
    listed::listed,
};

/// A pod is there within seconds of its label; one whose image comes from afar takes longer.
const POD_DEADLINE: i64 = 30;

pub(super) fn evaluate(seen: &Seen<'_>) -> Vec<Finding> {
    [without_secret(seen), nobody(seen)].into_iter().flatten().chain(without_pod(seen)).collect()
}

/// In one finding: many nodes may wait for theirs.
fn without_secret(seen: &Seen<'_>) -> Option<Finding> {
    let pending = seen.upgrades().iter().filter(|upgrade| upgrade.status.phase == Phase::Pending);
    let asking: BTreeSet<&str> = seen.labelled().chain(pending.map(NodeUpgrade::node)).collect();
    let lacks: Vec<String> = asking
        .into_iter()
        .filter_map(|node| lacks_secret(seen, node).map(|why| format!("{node}: {}", explain::plain(&why))))
        .collect();
    (!lacks.is_empty()).then(|| Finding::warning(IN_PLACE_SECRET, Part::Workloads, listed(&lacks, "; ")))
}

fn lacks_secret(seen: &Seen<'_>, node: &str) -> Option<String> {
    let upgrade = seen.upgrade(node);
    // A run that has begun has used it, and removes it at its end.
    if upgrade.is_some_and(|upgrade| upgrade.status.phase != Phase::Pending && !upgrade.status.phase.is_end()) {
        return None;
    }
    let waits_for = upgrade.and_then(|upgrade| upgrade.status.waits_for.as_ref()?.error());
    if let Some(bad) = waits_for.filter(|why| why.code == codes::BAD_SECRET.id) {
        return Some(bad.message.clone());
    }
    let secret = upgrade.map_or_else(|| names::secret(node), NodeUpgrade::secret);
    let Some(found) = seen.secrets.iter().find(|one| one.name.as_deref() == Some(&secret)) else {
        return Some(format!("there is no Secret {secret} in {NAMESPACE}"));
    };
    let label = found.labels.as_ref().and_then(|labels| labels.get(SECRET_LABEL));
    label
        .is_none_or(|value| value != "true")
        .then(|| format!("Secret {secret} in {NAMESPACE} lacks the label {SECRET_LABEL}=true"))
}

/// What is to be done, and not a word of who could do it. A node that was taken away is not given back either.
fn nobody(seen: &Seen<'_>) -> Option<Finding> {
    let active = || seen.upgrades().iter().filter(|upgrade| !upgrade.status.phase.is_end());
    let asking: BTreeSet<&str> = seen.labelled().chain(active().map(NodeUpgrade::node)).collect();
    let missing = missing(seen);
    if asking.is_empty() || missing.is_empty() {
        return None;
    }
    let asking: Vec<&str> = asking.into_iter().collect();
    let evidence = format!("{}; to be worked on in place: {}", missing.join(", "), listed(&asking, ", "));
    let is_away = active().any(|upgrade| upgrade.status.phase != Phase::Pending);
    let kind = if is_away { Kind::Cause } else { Kind::Warning };
    Some(Finding { kind, ..Finding::cause(IN_PLACE_NOBODY, Part::Workloads, evidence) })
}

fn missing(seen: &Seen<'_>) -> Vec<String> {
    let mut missing = Vec::new();
    if seen.upgrades.is_none() {
        missing.push(format!("the API knows no nodeupgrades.{GROUP}"));
    }
    if seen.by_agents {
        return missing;
    }
    match &seen.controller {
        None => missing.push(format!("there is no Deployment {NAMESPACE}/{CONTROLLER}")),
        Some(controller) if controller.spec.as_ref().is_some_and(|spec| spec.replicas == Some(0)) => {
            missing.push(format!("Deployment {NAMESPACE}/{CONTROLLER} is scaled to 0"));
        }
        Some(controller) => {
            let ready = controller.status.as_ref().and_then(|status| status.ready_replicas).unwrap_or_default();
            if ready == 0 {
                missing.push(format!("no pod of Deployment {NAMESPACE}/{CONTROLLER} is Ready"));
            }
        }
    }
    if seen.daemon_set.is_none() {
        missing.push(format!("there is no DaemonSet {NAMESPACE}/{DAEMON_SET}"));
    }
    missing
}

/// Where there is a daemon set, and no pod of it on a node that has not begun.
fn without_pod(seen: &Seen<'_>) -> Vec<Finding> {
    if seen.daemon_set.is_none() || seen.by_agents {
        return Vec::new();
    }
    let lacks = seen.labelled().filter_map(|node| {
        let upgrade = seen.upgrade(node)?;
        let since = upgrade.status.since.or(upgrade.metadata.creation_timestamp.as_ref().map(|made| made.0));
        let age = seen.seconds(since);
        // One that works needs no pod, and one that has ended begins anew in a moment.
        if upgrade.status.phase > Phase::Armed || age < POD_DEADLINE {
            return None;
        }
        let on_it = |pod: &&Pod| pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) == Some(node);
        let why = match seen.doors.iter().find(on_it) {
            None => format!("no pod of {DAEMON_SET} is on it"),
            Some(pod) => {
                let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("Pending");
                let failure = kubeapi::failure(pod);
                if phase == "Running" && failure.is_none() {
                    return None;
                }
                let why = failure.map(|failure| format!(": {failure}")).unwrap_or_default();
                format!("its pod {} is {phase}{why}", pod.metadata.name.as_deref().unwrap_or_default())
            }
        };
        let evidence = format!("{node} has waited for {}: {}", long(age), explain::plain(&why));
        Some(Finding::warning(IN_PLACE_NO_DOOR, Part::Workloads, evidence))
    });
    lacks.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::testing::World, *};

    #[test]
    fn the_secret_that_is_missing_is_named() {
        let waits =
            |code: &str, message: &str| json!({ "waitsFor": { "code": code, "message": message, "hint": "h" } });
        let mut world = World::new(&["w1", "w2"]);
        assert_eq!(world.reported(evaluate), "", "nobody asks");
        world.label("w1");
        assert_eq!(world.reported(evaluate), "BS-DIAG-097 Warning w1: there is no Secret ipb-w1 in ipb-system");
        world.upgrade("w2", "Pending", 5, &waits(codes::NO_SECRET.id, "x"));
        world.secret("ipb-w1", 5, false);
        insta::assert_snapshot!(world.reported(evaluate), @"BS-DIAG-097 Warning w1: Secret ipb-w1 in ipb-system lacks the label blackstart.io/ipb=true; w2: there is no Secret ipb-w2 in ipb-system");
        world.secret("ipb-w1", 5, true);
        world.secret("ipb-w2", 5, true);
        assert_eq!(world.reported(evaluate), "");
        world.upgrade("w2", "Pending", 5, &waits(codes::BAD_SECRET.id, "Secret ipb-w2 lacks region for rhel"));
        assert_eq!(world.reported(evaluate), "BS-DIAG-097 Warning w2: Secret ipb-w2 lacks region for rhel");
        world.upgrade("w2", "Gating", 5, &json!({}));
        world.secrets.clear();
        world.upgrade("w1", "Gating", 5, &json!({}));
        assert_eq!(world.reported(evaluate), "", "both have used theirs");
        world.upgrade("w1", "Done", 5, &json!({}));
        assert_eq!(world.reported(evaluate), "BS-DIAG-097 Warning w1: there is no Secret ipb-w1 in ipb-system");
    }

    #[test]
    fn who_is_missing_is_named_where_there_is_work() {
        let mut world = World::new(&["w1"]);
        (world.controller, world.daemon_set, world.has_kind) = (None, false, false);
        assert_eq!(world.reported(evaluate), "", "nobody asks");
        world.label("w1");
        world.secret("ipb-w1", 5, true);
        let mut lines = vec![world.reported(evaluate)];
        (world.has_kind, world.by_agents) = (true, true);
        assert_eq!(world.reported(evaluate), "", "the agents do it");
        (world.by_agents, world.daemon_set, world.controller) = (false, true, Some((0, 0)));
        lines.push(world.reported(evaluate));
        world.controller = Some((2, 0));
        lines.push(world.reported(evaluate));
        world.controller = Some((2, 1));
        assert_eq!(world.reported(evaluate), "");
        world.controller = None;
        world.upgrade("w1", "Draining", 5, &json!({}));
        lines.push(world.reported(evaluate));
        insta::assert_snapshot!(lines.join("\n"), @r"
        BS-DIAG-098 Warning the API knows no nodeupgrades.blackstart.io, there is no Deployment ipb-system/ipb-controller, there is no DaemonSet ipb-system/ipb-daemonset; to be worked on in place: w1
        BS-DIAG-098 Warning Deployment ipb-system/ipb-controller is scaled to 0; to be worked on in place: w1
        BS-DIAG-098 Warning no pod of Deployment ipb-system/ipb-controller is Ready; to be worked on in place: w1
        BS-DIAG-098 Cause there is no Deployment ipb-system/ipb-controller; to be worked on in place: w1
        ");
        world.upgrade("w1", "Stuck", 5, &json!({}));
        world.unlabel("w1");
        assert_eq!(world.reported(evaluate), "", "nobody would do anything for it");
    }

    #[test]
    fn a_labelled_node_without_a_pod_is_named_after_a_while() {
        let mut world = World::new(&["w1"]);
        world.label("w1");
        world.secret("ipb-w1", 5, true);
        let mut reported = |phase: &str, seconds, pod: Option<serde_json::Value>| {
            world.upgrade("w1", phase, seconds, &json!({}));
            world.doors = pod.into_iter().collect();
            world.reported(evaluate)
        };
        let pod = |status: serde_json::Value| json!({ "metadata": { "name": "ipb-daemonset-x" }, "spec": { "nodeName": "w1", "containers": [] }, "status": status });
        let waiting = json!({ "phase": "Pending", "containerStatuses": [{ "name": "door", "image": "example.org/x:1", "imageID": "",
            "ready": false, "restartCount": 0, "state": { "waiting": { "reason": "ImagePullBackOff" } } }] });
        assert_eq!(reported("Preflight", 29, None), "");
        assert_eq!(reported("Applying", 300, None), "", "it needs none");
        assert_eq!(reported("Preflight", 300, Some(pod(json!({ "phase": "Running" })))), "");
        let lines = [
            reported("Preflight", 300, None),
            reported("Preflight", 300, Some(pod(json!({ "phase": "Pending" })))),
            reported("Armed", 300, Some(pod(waiting))),
        ];
        insta::assert_snapshot!(lines.join("\n"));
    }
}
