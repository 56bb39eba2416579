//! What nobody takes away any more: Secrets of runs that are over, cordons of objects that are gone. Pure.

use kubeapi::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use operations::cordon::is_cordoned;
use upgrades::{
    NodeUpgrade, Phase,
    names::{NAMESPACE, ORDER_ANNOTATION},
};

use super::{Seen, annotation, long, name};
use crate::{
    Finding, Part,
    codes::{IN_PLACE_CORDON, IN_PLACE_SECRET_LEFT},
};

/// A person may want to try again with the same Secret, on the same day.
const SECRET_DEADLINE: i64 = 24 * 3600;

pub(super) fn evaluate(seen: &Seen<'_>) -> Vec<Finding> {
    let secrets = seen.upgrades().iter().filter_map(|upgrade| secret(seen, upgrade));
    secrets.chain(cordons(seen)).collect()
}

fn secret(seen: &Seen<'_>, upgrade: &NodeUpgrade) -> Option<Finding> {
    let (node, status) = (upgrade.node(), &upgrade.status);
    let is_over = status.phase.is_end() && status.phase != Phase::Stuck;
    let age = seen.seconds(status.since);
    if !is_over || age < SECRET_DEADLINE {
        return None;
    }
    let wanted = upgrade.secret();
    let found = seen.secrets.iter().find(|one| one.name.as_deref() == Some(&wanted))?;
    if !is_of_run(found, upgrade) {
        return None;
    }
    let (phase, age) = (status.phase, long(age));
    let evidence = format!("Secret {wanted} of {node} is there, and {node} has been {phase} for {age}");
    let fix = format!("it holds tokens that nobody needs any more: `kubectl -n {NAMESPACE} delete secret {wanted}`");
    Some(Finding::warning(IN_PLACE_SECRET_LEFT, Part::Workloads, evidence).with_fix(fix))
}

/// One that was made since is for another run. Where none is noted, the run ended before it had begun.
fn is_of_run(secret: &ObjectMeta, upgrade: &NodeUpgrade) -> bool {
    let status = &upgrade.status;
    match &status.secret_uid {
        Some(uid) => secret.uid.as_ref() == Some(uid),
        None => secret.creation_timestamp.as_ref().map(|made| made.0) < status.since,
    }
}

/// The order is ours alone, and is removed when the node is given back.
fn cordons<'a>(seen: &'a Seen<'_>) -> impl Iterator<Item = Finding> + 'a {
    let ours = seen.nodes.iter().filter(|node| is_cordoned(node) && annotation(node, ORDER_ANNOTATION).is_some());
    ours.map(name).filter(|node| seen.upgrade(node).is_none()).map(|node| {
        let evidence =
            format!("{node} is cordoned and has the annotation {ORDER_ANNOTATION}, and there is no NodeUpgrade {node}");
        let fix = format!("`kubectl annotate node {node} {ORDER_ANNOTATION}-`, then `kubectl uncordon {node}`");
        Finding::warning(IN_PLACE_CORDON, Part::Workloads, evidence).with_fix(fix)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::testing::World, *};

    const DAY: i64 = 86_400;

    #[test]
    fn a_secret_is_left_a_day_after_its_run() {
        let mut world = World::new(&["w1"]);
        world.secret("ipb-w1", 3 * DAY, true);
        let (of_run, another) = (json!({ "secretUid": "uid-ipb-w1" }), json!({ "secretUid": "another" }));
        for (phase, seconds, status, is_left) in [
            ("Done", DAY, &of_run, true),
            ("Refused", DAY, &of_run, true),
            ("RolledBack", 2 * DAY, &of_run, true),
            ("Done", DAY - 1, &of_run, false),
            ("Stuck", 2 * DAY, &of_run, false),
            ("Applying", 2 * DAY, &of_run, false),
            ("Done", DAY, &another, false),
            ("Refused", DAY, &json!({}), true),
            ("Refused", 4 * DAY, &json!({}), false),
        ] {
            world.upgrade("w1", phase, seconds, status);
            assert_eq!(!world.reported(evaluate).is_empty(), is_left, "{phase} for {seconds} s, {status}");
        }
        world.upgrade("w1", "Done", DAY, &of_run);
        assert_eq!(
            world.reported(evaluate),
            "BS-DIAG-100 Warning Secret ipb-w1 of w1 is there, and w1 has been Done for 24 h"
        );
        world.secrets.clear();
        assert_eq!(world.reported(evaluate), "");
    }

    #[test]
    fn a_cordon_is_ours_by_the_order() {
        let mut world = World::new(&["w1"]);
        world.cordon("w1");
        assert_eq!(world.reported(evaluate), "", "a person's");
        world.annotate("w1", ORDER_ANNOTATION, "{}");
        assert_eq!(
            world.reported(evaluate),
            "BS-DIAG-101 Warning w1 is cordoned and has the annotation blackstart.io/upgrade-order, and there is no NodeUpgrade w1"
        );
        assert_eq!(
            world.fixes(evaluate),
            "`kubectl annotate node w1 blackstart.io/upgrade-order-`, then `kubectl uncordon w1`"
        );
        world.upgrade("w1", "Draining", 5, &json!({}));
        assert_eq!(world.reported(evaluate), "", "it will be given back");
    }
}
