//! What is seen of the Node, in one observation.

use kubeapi::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use upgrades::{Command, NodeReport, NodeState, Order, names};

/// What is seen of the Node, in one observation.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    version: Option<String>,
    is_labelled: bool,
    order: Option<Order>,
    report: Option<NodeReport>,
}

impl Observed {
    pub(super) fn of(node: &ObjectMeta) -> Self {
        let annotation = |key: &str| node.annotations.as_ref()?.get(key).map(String::as_str);
        let label = node.labels.as_ref().and_then(|labels| labels.get(names::SCHEDULE_LABEL));
        Self {
            version: node.resource_version.clone(),
            is_labelled: label.is_some_and(|value| value == names::SCHEDULED),
            order: annotation(names::ORDER_ANNOTATION).and_then(Order::read),
            report: annotation(names::REPORT_ANNOTATION).and_then(NodeReport::read),
        }
    }

    pub(super) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The run for which the node's agent is to open the door, because no pod does.
    pub(super) fn asks_agent(&self) -> Option<&str> {
        let order = self.order.as_ref().filter(|order| order.by_agent && !self.is_over());
        order.map(|order| &*order.run)
    }

    /// The node has done all it was ordered to: there is nothing to start.
    pub(super) fn is_over(&self) -> bool {
        self.of_this_run().is_some_and(|report| report.state.is_end())
    }

    /// The one moment at which the label is removed.
    pub(super) fn commits(&self) -> bool {
        let is_to_be_armed = self.order.as_ref().is_some_and(|order| order.command == Command::Arm);
        let is_armed = self.of_this_run().is_some_and(|report| report.state == NodeState::Armed);
        self.is_labelled && is_to_be_armed && is_armed
    }

    fn of_this_run(&self) -> Option<&NodeReport> {
        let order = self.order.as_ref()?;
        self.report.as_ref().filter(|report| report.run == order.run)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn observed(run: &str, command: &str, state: &str, is_labelled: bool) -> Observed {
        let order = json!({ "version": 1, "run": "r", "command": command, "driver": "rhel", "secret": "s",
                            "applySeconds": 1, "confirmSeconds": 1 });
        let report = json!({ "version": 1, "run": run, "state": state, "message": "m", "bootId": "b",
                             "at": "2026-01-01T00:00:00Z" });
        let annotations =
            json!({ names::ORDER_ANNOTATION: order.to_string(), names::REPORT_ANNOTATION: report.to_string() });
        let labels = if is_labelled { json!({ names::SCHEDULE_LABEL: "true" }) } else { json!({}) };
        let node = json!({ "name": "w1", "annotations": annotations, "labels": labels });
        Observed::of(&serde_json::from_value(node).unwrap())
    }

    #[test]
    fn the_label_goes_only_when_the_node_is_armed_for_this_very_order() {
        for (case, seen, commits, is_over) in [
            ("armed", observed("r", "arm", "armed", true), true, false),
            ("for another run", observed("q", "arm", "armed", true), false, false),
            ("ordered to stop", observed("r", "stop", "armed", true), false, false),
            ("not yet", observed("r", "arm", "checked", true), false, false),
            ("gone already", observed("r", "arm", "armed", false), false, false),
            ("done", observed("r", "confirm", "done", true), false, true),
            ("done, of another run", observed("q", "check", "done", true), false, false),
            ("refused", observed("r", "check", "refused", true), false, true),
        ] {
            assert_eq!((seen.commits(), seen.is_over()), (commits, is_over), "{case}");
        }
        assert!(observed("r", "check", "done", true).asks_agent().is_none(), "a pod opens the door");
        assert!(!Observed::of(&ObjectMeta::default()).is_over(), "no order yet: the unit waits for one");
    }
}
