//! How a run stands that does not go on, or how it ended. Pure.

use kubeapi::k8s_openapi::api::core::v1::Node as ApiNode;
use operations::readiness::Readiness;
use upgrades::{NodeState, NodeUpgrade, Phase, names::RETRY_ANNOTATION};

use super::{Seen, is_labelled, long};
use crate::{
    Finding, Part,
    codes::{IN_PLACE_NOT_COMMITTED, IN_PLACE_OLD_BOOT, IN_PLACE_PROGRESS, IN_PLACE_STUCK, IN_PLACE_WENT_BACK},
};

/// An armed node has its label removed, and begins, within seconds.
const COMMIT_DEADLINE: i64 = 60;
/// A Node stays Ready while its machine goes down, and a machine that does not go down is told so again after as long.
const REBOOT_DEADLINE: i64 = 180;

pub(super) fn evaluate(seen: &Seen<'_>) -> Vec<Finding> {
    seen.upgrades().iter().flat_map(|upgrade| of_run(seen, upgrade).into_iter().chain(progress(upgrade))).collect()
}

fn of_run(seen: &Seen<'_>, upgrade: &NodeUpgrade) -> Option<Finding> {
    match upgrade.status.phase {
        Phase::Stuck => Some(stuck(seen, upgrade)),
        Phase::RollingBack | Phase::RolledBack => Some(went_back(upgrade)),
        Phase::Armed => armed(seen, upgrade),
        Phase::Refused => disarmed(seen, upgrade),
        Phase::Rebooting => old_boot(seen, upgrade),
        _ => None,
    }
}

/// Why it did not go well, with its code.
fn failure(upgrade: &NodeUpgrade) -> String {
    let failure = upgrade.status.failure.as_ref();
    failure.map_or_else(|| "no reason given".to_owned(), |failure| explain::plain(&failure.to_string()).into_owned())
}

fn stuck(seen: &Seen<'_>, upgrade: &NodeUpgrade) -> Finding {
    let (node, since) = (upgrade.node(), long(seen.seconds(upgrade.status.since)));
    let evidence = format!("{node} has been Stuck for {since}, cordoned, and keeps its slot: {}", failure(upgrade));
    let fix = format!(
        "repair the machine (`journalctl -u blackstart-reprovision -u blackstart-reprovision-boot` on {node}); then give it back with \
         `kubectl delete nodeupgrade {node}`, or begin again with `blackstart reprovision start {node} --secret DIR` and `kubectl \
         annotate nodeupgrade {node} --overwrite {RETRY_ANNOTATION}=$(date +%s)`"
    );
    Finding::cause(IN_PLACE_STUCK, Part::Workloads, evidence).with_fix(fix)
}

/// By itself, which is told apart: there is nothing wrong with the payload then.
fn went_back(upgrade: &NodeUpgrade) -> Finding {
    let node = upgrade.node();
    let verb = if upgrade.status.phase == Phase::RolledBack { "went" } else { "goes" };
    let code = upgrade.status.failure.as_ref().map(|failure| failure.code.as_str());
    let (how, fix) = if code == Some(reprovision::codes::NOT_CONFIRMED.id) {
        let fix = format!(
            "find out why the controller did not confirm it: `kubectl -n ipb-system get pods -o wide`, `kubectl -n ipb-system logs -l \
             app=ipb-controller`; then `blackstart reprovision start {node} --secret DIR`, and for the same payload `kubectl annotate \
             nodeupgrade {node} --overwrite {RETRY_ANNOTATION}=$(date +%s)`"
        );
        (" by itself", fix)
    } else {
        let fix = format!(
            "`journalctl -u blackstart-reprovision -u blackstart-reprovision-boot` on {node} has the output; with another payload, \
             `blackstart reprovision start {node} --secret DIR` begins anew"
        );
        ("", fix)
    };
    let evidence = format!("{node} {verb} back{how} to what it was: {}", failure(upgrade));
    Finding::warning(IN_PLACE_WENT_BACK, Part::Workloads, evidence).with_fix(fix)
}

fn armed(seen: &Seen<'_>, upgrade: &NodeUpgrade) -> Option<Finding> {
    let (node, age) = (upgrade.node(), seen.seconds(upgrade.status.since));
    let report = seen.report(upgrade);
    // The node has gone on, and no controller has seen it yet.
    if age < COMMIT_DEADLINE || report.as_ref().is_some_and(|report| report.state.has_begun()) {
        return None;
    }
    let label = match seen.node(node) {
        None => "its Node is gone",
        Some(found) if is_labelled(found) => "its label is still there",
        Some(_) => "its label is gone",
    };
    let says = report.map_or_else(|| "nothing".to_owned(), |report| format!("`{}`", report.state));
    let evidence = format!("{node} was to begin {} ago, and has not: {label}, and it reports {says}", long(age));
    Some(Finding::warning(IN_PLACE_NOT_COMMITTED, Part::Workloads, evidence))
}

/// The failure is what the node said when it was disarmed; one that was refused before it was armed says something else.
fn disarmed(seen: &Seen<'_>, upgrade: &NodeUpgrade) -> Option<Finding> {
    let report = seen.report(upgrade).filter(|report| report.state == NodeState::Disarmed)?;
    let failure = upgrade.status.failure.as_ref()?;
    if !failure.message.contains(report.text.message()) {
        return None;
    }
    let evidence = format!("{} was armed and did not begin: {}", upgrade.node(), self::failure(upgrade));
    Some(Finding::warning(IN_PLACE_NOT_COMMITTED, Part::Workloads, evidence))
}

/// Only the boot is proof of a reboot.
fn old_boot(seen: &Seen<'_>, upgrade: &NodeUpgrade) -> Option<Finding> {
    let (node, age) = (upgrade.node(), seen.seconds(upgrade.status.since));
    let before = upgrade.status.boot_id_before.as_deref()?;
    let found = seen.node(node).filter(|found| boot(found) == Some(before))?;
    let reboots = seen.report(upgrade).is_some_and(|report| report.state == NodeState::Rebooting);
    if age < REBOOT_DEADLINE || !reboots || !Readiness::of_node(found).is_ready() {
        return None;
    }
    let evidence = format!("{node} was to reboot {} ago, and is Ready in the boot from before, {before}", long(age));
    Some(Finding::warning(IN_PLACE_OLD_BOOT, Part::Workloads, evidence))
}

fn boot(node: &ApiNode) -> Option<&str> {
    Some(&node.status.as_ref()?.node_info.as_ref()?.boot_id)
}

fn progress(upgrade: &NodeUpgrade) -> Option<Finding> {
    let outbox = &upgrade.status.outbox;
    let error = outbox.last_error.as_ref()?;
    let (node, waiting, dropped) = (upgrade.node(), outbox.events.len(), outbox.dropped);
    let error = explain::plain(&error.to_string()).into_owned();
    let evidence = format!("{node}: {error}; {waiting} to be delivered, {dropped} dropped");
    Some(Finding::warning(IN_PLACE_PROGRESS, Part::Workloads, evidence))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::testing::World, *};

    #[test]
    fn each_end_has_its_answer() {
        let failed =
            |code: &str, message: &str| json!({ "failure": { "code": code, "message": message, "hint": "h" } });
        let mut world = World::new(&["w1"]);
        let mut lines = Vec::new();
        for (phase, status) in [
            ("Stuck", failed("BS-IPB-010", "cannot undo tool")),
            ("RollingBack", failed("BS-IPB-006", "no confirmation in time")),
            ("RolledBack", failed("BS-IPB-006", "no confirmation in time")),
            ("RolledBack", failed("BS-IPB-062", "stage 2 ended with 1")),
            ("RolledBack", json!({})),
        ] {
            world.upgrade("w1", phase, 90, &status);
            lines.push(format!("{}\n  {}", world.reported(evaluate), world.fixes(evaluate)));
        }
        insta::assert_snapshot!(lines.join("\n"));
        world.upgrade("w1", "Refused", 90, &failed("BS-UPG-006", "1 problem"));
        assert_eq!(world.reported(evaluate), "", "it is told by its status, and nothing was changed");
    }

    #[test]
    fn a_commit_that_does_not_come_is_named() {
        let mut world = World::new(&["w1"]);
        world.label("w1");
        world.upgrade("w1", "Armed", 59, &json!({}));
        assert_eq!(world.reported(evaluate), "");
        world.upgrade("w1", "Armed", 60, &json!({}));
        let mut lines = vec![world.reported(evaluate)];
        world.report("w1", "armed", "b1", "armed");
        lines.push(world.reported(evaluate));
        world.unlabel("w1");
        lines.push(world.reported(evaluate));
        world.report("w1", "applying", "b1", "stage 1");
        assert_eq!(world.reported(evaluate), "", "it has begun");
        world.report("w1", "disarmed", "b1", "disarmed; nothing was changed");
        let refused = |message: &str| json!({ "failure": { "code": "BS-UPG-006", "message": message, "hint": "h" } });
        world.upgrade("w1", "Refused", 60, &refused("the node refuses: disarmed; nothing was changed"));
        lines.push(world.reported(evaluate));
        insta::assert_snapshot!(lines.join("\n"), @r"
        BS-DIAG-102 Warning w1 was to begin 60 s ago, and has not: its label is still there, and it reports nothing
        BS-DIAG-102 Warning w1 was to begin 60 s ago, and has not: its label is still there, and it reports `armed`
        BS-DIAG-102 Warning w1 was to begin 60 s ago, and has not: its label is gone, and it reports `armed`
        BS-DIAG-102 Warning w1 was armed and did not begin: BS-UPG-006: the node refuses: disarmed; nothing was changed
        ");
        world.upgrade("w1", "Refused", 60, &refused("preflight takes too long: preflight"));
        assert_eq!(world.reported(evaluate), "", "it was never armed");
    }

    #[test]
    fn the_old_boot_counts_only_where_a_reboot_is_due() {
        let mut world = World::new(&["w1"]);
        let before = json!({ "bootIdBefore": "b1" });
        for (case, phase, seconds, state, boot, is_named) in [
            ("due", "Rebooting", 180, "rebooting", "b1", true),
            ("it may still go down", "Rebooting", 179, "rebooting", "b1", false),
            ("it needs no reboot", "Rebooting", 180, "stage2", "b1", false),
            ("it is back", "Rebooting", 180, "rebooting", "b2", false),
            ("it has not come so far", "Applying", 180, "applying", "b1", false),
        ] {
            world.upgrade("w1", phase, seconds, &before);
            world.report("w1", state, boot, "x");
            assert_eq!(world.reported(evaluate).is_empty(), !is_named, "{case}");
        }
        world.upgrade("w1", "Rebooting", 300, &before);
        world.report("w1", "rebooting", "b1", "x");
        assert_eq!(
            world.reported(evaluate),
            "BS-DIAG-105 Warning w1 was to reboot 5 min ago, and is Ready in the boot from before, b1"
        );
        world.not_ready("w1");
        assert_eq!(world.reported(evaluate), "", "it may be on its way");
    }

    #[test]
    fn what_the_progress_api_says_is_named() {
        let mut world = World::new(&["w1"]);
        let error = json!({ "code": "BS-UPG-030", "message": "https://x answers 401", "hint": "h" });
        world.upgrade("w1", "Applying", 9, &json!({ "outbox": { "seq": 4, "dropped": 3, "lastError": error } }));
        assert_eq!(
            world.reported(evaluate),
            "BS-DIAG-106 Warning w1: BS-UPG-030: https://x answers 401; 0 to be delivered, 3 dropped"
        );
        world.upgrade("w1", "Applying", 9, &json!({ "outbox": { "seq": 4, "dropped": 3 } }));
        assert_eq!(world.reported(evaluate), "");
    }
}
