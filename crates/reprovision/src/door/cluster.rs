//! The pod's own Node: observed, and relieved of one label.

use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::Node,
    kube::{
        self, Api, Config,
        api::{Patch, PatchParams},
    },
};
use serde_json::json;
use upgrades::{Command, NodeReport, NodeState, Order, names};

use super::DoorError;

pub(super) struct Cluster {
    node: String,
    client: Client,
}

/// What is seen of the Node, in one observation.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    version: Option<String>,
    is_labelled: bool,
    order: Option<Order>,
    report: Option<NodeReport>,
}

impl Observed {
    fn of(node: &Node) -> Self {
        let annotation = |key: &str| node.metadata.annotations.as_ref()?.get(key).map(String::as_str);
        let label = node.metadata.labels.as_ref().and_then(|labels| labels.get(names::SCHEDULE_LABEL));
        Self {
            version: node.metadata.resource_version.clone(),
            is_labelled: label.is_some_and(|value| value == names::SCHEDULED),
            order: annotation(names::ORDER_ANNOTATION).and_then(Order::read),
            report: annotation(names::REPORT_ANNOTATION).and_then(NodeReport::read),
        }
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

impl Cluster {
    /// By the service account of the pod.
    pub(super) fn new(node: &str) -> Result<Self, DoorError> {
        let unusable = |error: &dyn std::error::Error| DoorError::NoAccount(explain::chain(error));
        let mut config = Config::incluster().map_err(|error| unusable(&error))?;
        config.default_retry = false;
        config.proxy_url = None;
        let client = Client::try_from(config).map_err(|error| unusable(&error))?;
        Ok(Self { node: node.to_owned(), client })
    }

    pub(super) async fn observe(&self) -> Result<Observed, DoorError> {
        let node = self.api().get(&self.node).await.map_err(ApiError::of(format!("see node {}", self.node)))?;
        Ok(Observed::of(&node))
    }

    /// Of the very Node that was seen: one that was given another order meanwhile keeps its label.
    pub(super) async fn remove_label(&self, observed: &Observed) -> Result<(), DoorError> {
        let metadata = json!({ "resourceVersion": observed.version, "labels": { names::SCHEDULE_LABEL: null } });
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        match self.api().patch(&self.node, &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            Err(error) => Err(ApiError::of(format!("remove the label of {}", self.node))(error).into()),
            Ok(_) => Ok(()),
        }
    }

    fn api(&self) -> Api<Node> {
        Api::all(self.client.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(run: &str, command: &str, state: &str, is_labelled: bool) -> Observed {
        let order = json!({ "version": 1, "run": "r", "command": command, "driver": "rhel", "secret": "s",
                            "applySeconds": 1, "confirmSeconds": 1 });
        let report = json!({ "version": 1, "run": run, "state": state, "message": "m", "bootId": "b",
                             "at": "2026-01-01T00:00:00Z" });
        let annotations =
            json!({ names::ORDER_ANNOTATION: order.to_string(), names::REPORT_ANNOTATION: report.to_string() });
        let labels = if is_labelled { json!({ names::SCHEDULE_LABEL: "true" }) } else { json!({}) };
        let node = json!({ "metadata": { "name": "w1", "annotations": annotations, "labels": labels } });
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
        assert!(!Observed::of(&Node::default()).is_over(), "no order yet: the unit waits for one");
    }
}
