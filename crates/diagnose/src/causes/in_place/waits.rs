//! What keeps a node that is worked on in place from going on: budgets of its pods, slots that others hold. Pure.

use kubeapi::{
    k8s_openapi::api::{core::v1::Pod, policy::v1::PodDisruptionBudget},
    kube::core::{Selector, SelectorExt},
};
use upgrades::{NodeUpgrade, Phase, codes};

use super::{Seen, long};
use crate::{
    Finding, Part,
    codes::{IN_PLACE_BUDGET, IN_PLACE_SLOT},
    listed::listed,
};

/// By which a Node is a master's.
const MASTER_LABELS: [&str; 2] = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

pub(super) fn evaluate(seen: &Seen<'_>) -> Vec<Finding> {
    let drained = seen.upgrades().iter().filter(|upgrade| upgrade.status.phase == Phase::Draining);
    let budgets = drained.filter_map(|upgrade| held_back(seen, upgrade));
    // One master at a time, and so many others: they do not wait for each other.
    budgets.chain([true, false].into_iter().filter_map(|is_master| without_slot(seen, is_master))).collect()
}

fn held_back(seen: &Seen<'_>, upgrade: &NodeUpgrade) -> Option<Finding> {
    let node = upgrade.node();
    let here = seen.leaving.iter().filter(|pod| {
        let is_here = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) == Some(node);
        is_here && pod.metadata.deletion_timestamp.is_none()
    });
    let held: Vec<(&Pod, &PodDisruptionBudget)> = here
        .filter_map(|pod| seen.budgets.iter().find(|budget| holds(budget, pod)).map(|budget| (pod, budget)))
        .collect();
    let (first, budget) = held.first()?;
    let namespace = first.metadata.namespace.as_deref().unwrap_or_default();
    let all: Vec<String> = held.iter().map(|(pod, budget)| reported(pod, budget)).collect();
    let since = long(seen.seconds(upgrade.status.since));
    let evidence = format!("{node} has been Draining for {since}: {}", listed(&all, "; "));
    let fix = format!(
        "add replicas or relax the budget: `kubectl -n {namespace} describe pdb {}`; `kubectl patch nodeupgrade {node} --type=merge \
         -p '{{\"spec\":{{\"drain\":{{\"onTimeout\":\"delete\"}}}}}}'` deletes such pods when the time is over",
        budget.metadata.name.as_deref().unwrap_or_default()
    );
    Some(Finding::warning(IN_PLACE_BUDGET, Part::Workloads, evidence).with_fix(fix))
}

/// A budget of its namespace that does not let it go now. The API server counts only pods that run, and lets those that are not Ready
/// go where the others are enough, or where the budget says so.
fn holds(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    let Some(spec) = &budget.spec else { return false };
    // One that cannot be read selects nothing, as it does for the API server.
    let selector = spec.selector.clone().and_then(|selector| Selector::try_from(selector).ok());
    let labels = pod.metadata.labels.clone().unwrap_or_default();
    let is_of_it = budget.metadata.namespace == pod.metadata.namespace
        && selector.is_some_and(|selector| selector.matches(&labels));
    let status = budget.status.clone().unwrap_or_default();
    let is_enough = status.current_healthy >= status.desired_healthy && status.desired_healthy > Some(0);
    let is_let_go =
        !is_ready(pod) && (is_enough || spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow"));
    let runs = pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running");
    is_of_it && runs && !is_let_go && status.disruptions_allowed.unwrap_or_default() <= 0
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

fn reported(pod: &Pod, budget: &PodDisruptionBudget) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (namespace, pod) = (text(&pod.metadata.namespace), text(&pod.metadata.name));
    let status = budget.status.clone().unwrap_or_default();
    let number = Option::unwrap_or_default;
    let (healthy, all, needed) =
        (number(status.current_healthy), number(status.expected_pods), number(status.desired_healthy));
    let numbers = format!("{healthy} of {all} are healthy, {needed} must be");
    format!("pod {namespace}/{pod} is held by budget {}, which allows 0 to go ({numbers})", text(&budget.metadata.name))
}

/// In one finding: on a large cluster many nodes wait for the same.
fn without_slot(seen: &Seen<'_>, is_master: bool) -> Option<Finding> {
    let of_pool = || seen.upgrades().iter().filter(|upgrade| seen.is_master(upgrade) == is_master);
    let no_slot = |upgrade: &&NodeUpgrade| {
        let waits_for = upgrade.status.waits_for.as_ref().and_then(|waits_for| waits_for.error());
        upgrade.status.phase == Phase::Pending && waits_for.is_some_and(|why| why.code == codes::NO_SLOT.id)
    };
    let waiting: Vec<&NodeUpgrade> = of_pool().filter(no_slot).collect();
    let first = waiting.first()?;
    let holders: Vec<String> = of_pool()
        .filter(|upgrade| upgrade.status.holds_slot())
        .map(|upgrade| {
            let since = long(seen.seconds(upgrade.status.since));
            format!("{} ({} for {since})", upgrade.node(), upgrade.status.phase)
        })
        .collect();
    let names: Vec<&str> = waiting.iter().map(|upgrade| upgrade.node()).collect();
    let held_by = if holders.is_empty() {
        // A slot that is left behind is free a minute later.
        first.status.waits_for.as_ref().map(|waits_for| explain::plain(waits_for.message()).into_owned())?
    } else {
        format!("held by {}", listed(&holders, ", "))
    };
    let verb = if names.len() == 1 { "waits" } else { "wait" };
    let evidence = format!("{} {verb} for a slot: {held_by}", listed(&names, ", "));
    Some(Finding::warning(IN_PLACE_SLOT, Part::Workloads, evidence))
}

impl Seen<'_> {
    /// Also one whose Node is gone, by what was noted of it.
    fn is_master(&self, upgrade: &NodeUpgrade) -> bool {
        let noted = upgrade.status.snapshot.as_ref().map(|snapshot| &snapshot.labels);
        let labels = self.node(upgrade.node()).and_then(|node| node.metadata.labels.as_ref()).or(noted);
        labels.is_some_and(|labels| MASTER_LABELS.iter().any(|role| labels.contains_key(*role)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{super::testing::World, *};

    fn budget(namespace: &str, selector: &Value, allowed: i32, policy: &str) -> Value {
        json!({ "metadata": { "name": "db", "namespace": namespace },
                "spec": { "selector": selector, "unhealthyPodEvictionPolicy": policy },
                "status": { "disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 2, "expectedPods": 2 } })
    }

    fn pod(name: &str, node: &str, phase: &str, ready: &str) -> Value {
        json!({ "metadata": { "name": name, "namespace": "shop", "labels": { "app": "db" } },
                "spec": { "nodeName": node, "containers": [] },
                "status": { "phase": phase, "conditions": [{ "type": "Ready", "status": ready }] } })
    }

    #[test]
    fn the_pod_and_the_budget_are_named() {
        let (db, web) = (json!({ "matchLabels": { "app": "db" } }), json!({ "matchLabels": { "app": "web" } }));
        let mut world = World::new(&["w1", "w2"]);
        world.upgrade("w1", "Draining", 125, &json!({}));
        world.leaving = vec![pod("db-0", "w1", "Running", "True"), pod("db-1", "w2", "Running", "True")];
        for (case, budgets, is_held) in [
            ("none", vec![], false),
            ("it allows one", vec![budget("shop", &db, 1, "IfHealthyBudget")], false),
            ("of another namespace", vec![budget("other", &db, 0, "IfHealthyBudget")], false),
            ("of other pods", vec![budget("shop", &web, 0, "IfHealthyBudget")], false),
            ("of no pod", vec![json!({ "metadata": { "name": "db", "namespace": "shop" }, "spec": {} })], false),
            ("of all pods", vec![budget("shop", &json!({}), 0, "IfHealthyBudget")], true),
            ("it allows none", vec![budget("shop", &db, 0, "AlwaysAllow")], true),
        ] {
            world.budgets = budgets;
            assert_eq!(!world.reported(evaluate).is_empty(), is_held, "{case}");
        }
        insta::assert_snapshot!(world.reported(evaluate), @"BS-DIAG-095 Warning w1 has been Draining for 2 min: pod shop/db-0 is held by budget db, which allows 0 to go (1 of 2 are healthy, 2 must be)");
        insta::assert_snapshot!(world.fixes(evaluate));
        world.upgrade("w1", "Preflight", 125, &json!({}));
        assert_eq!(world.reported(evaluate), "", "nobody has asked it to leave");
    }

    #[test]
    fn a_pod_that_does_not_count_is_not_held() {
        let (db, mut world) = (json!({ "matchLabels": { "app": "db" } }), World::new(&["w1"]));
        world.upgrade("w1", "Draining", 5, &json!({}));
        for (phase, ready, policy, healthy, is_held) in [
            ("Running", "True", "AlwaysAllow", 2, true),
            ("Running", "False", "AlwaysAllow", 1, false),
            ("Running", "False", "IfHealthyBudget", 1, true),
            ("Running", "False", "IfHealthyBudget", 2, false),
            ("Pending", "False", "IfHealthyBudget", 1, false),
            ("Succeeded", "False", "IfHealthyBudget", 1, false),
        ] {
            world.leaving = vec![pod("db-0", "w1", phase, ready)];
            world.budgets = vec![budget("shop", &db, 0, policy)];
            world.budgets[0]["status"]["currentHealthy"] = json!(healthy);
            assert_eq!(!world.reported(evaluate).is_empty(), is_held, "{phase} {ready} {policy} {healthy}");
        }
    }

    #[test]
    fn who_holds_the_slots_is_named() {
        let waits = json!({ "waitsFor": { "code": codes::NO_SLOT.id, "message": "all slots are held: 1 of 1: w9", "hint": "h" } });
        let mut world = World::new(&["m1", "m2", "w1", "w2"]);
        world.upgrade("w2", "Pending", 5, &json!({}));
        assert_eq!(world.reported(evaluate), "");
        world.upgrade("w2", "Pending", 5, &waits);
        let mut lines = vec![world.reported(evaluate)];
        world.upgrade("w1", "Stuck", 7300, &json!({}));
        world.upgrade("m1", "Applying", 5, &json!({}));
        lines.push(world.reported(evaluate));
        world.upgrade("m2", "Pending", 5, &waits);
        lines.push(world.reported(evaluate));
        insta::assert_snapshot!(lines.join("\n"), @r"
        BS-DIAG-096 Warning w2 waits for a slot: all slots are held: 1 of 1: w9
        BS-DIAG-096 Warning w2 waits for a slot: held by w1 (Stuck for 2 h)
        BS-DIAG-096 Warning m2 waits for a slot: held by m1 (Applying for 5 s)
        BS-DIAG-096 Warning w2 waits for a slot: held by w1 (Stuck for 2 h)
        ");
    }
}
