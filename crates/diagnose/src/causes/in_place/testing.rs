//! A cluster for the tests of this module: where nothing is said, the manifests are applied and run.

use jiff::{SignedDuration, Timestamp};
use kubeapi::k8s_openapi::api::core::v1::Node as ApiNode;
use serde_json::{Value, json};
use upgrades::names;

use super::Seen;
use crate::Finding;

/// What is in the cluster, as manifests have it.
pub(super) struct World {
    pub(super) nodes: Vec<Value>,
    pub(super) upgrades: Vec<Value>,
    pub(super) secrets: Vec<Value>,
    pub(super) leaving: Vec<Value>,
    pub(super) budgets: Vec<Value>,
    pub(super) doors: Vec<Value>,
    /// Wanted and Ready.
    pub(super) controller: Option<(i32, i32)>,
    pub(super) by_agents: bool,
    pub(super) daemon_set: bool,
    pub(super) has_kind: bool,
}

fn now() -> Timestamp {
    "2026-11-19T12:00:00Z".parse().unwrap()
}

fn before(seconds: i64) -> String {
    (now() - SignedDuration::from_secs(seconds)).to_string()
}

impl World {
    /// Of these nodes, Ready in the boot `b1`; those with an `m` are masters.
    pub(super) fn new(names: &[&str]) -> Self {
        let node = |name: &&str| {
            let master = json!({ "node-role.kubernetes.io/control-plane": "" });
            json!({
                "metadata": { "name": name, "labels": if name.starts_with('m') { master } else { json!({}) }, "annotations": {} },
                "spec": {},
                "status": { "conditions": [{ "type": "Ready", "status": "True" }], "nodeInfo": node_info("b1") },
            })
        };
        Self {
            nodes: names.iter().map(node).collect(),
            upgrades: Vec::new(),
            secrets: Vec::new(),
            leaving: Vec::new(),
            budgets: Vec::new(),
            doors: Vec::new(),
            controller: Some((2, 2)),
            by_agents: false,
            daemon_set: true,
            has_kind: true,
        }
    }

    fn node(&mut self, name: &str) -> &mut Value {
        self.nodes.iter_mut().find(|node| node["metadata"]["name"] == name).unwrap()
    }

    pub(super) fn label(&mut self, node: &str) {
        self.node(node)["metadata"]["labels"][names::SCHEDULE_LABEL] = json!("true");
    }

    pub(super) fn unlabel(&mut self, node: &str) {
        self.node(node)["metadata"]["labels"] = json!({});
    }

    pub(super) fn cordon(&mut self, node: &str) {
        self.node(node)["spec"]["unschedulable"] = json!(true);
    }

    pub(super) fn not_ready(&mut self, node: &str) {
        self.node(node)["status"]["conditions"][0]["status"] = json!("Unknown");
    }

    pub(super) fn annotate(&mut self, node: &str, key: &str, value: &str) {
        self.node(node)["metadata"]["annotations"][key] = json!(value);
    }

    /// The node says this of the run `r1`, and its kubelet is in this boot.
    pub(super) fn report(&mut self, node: &str, state: &str, boot: &str, message: &str) {
        let report =
            json!({ "version": 1, "run": "r1", "state": state, "message": message, "bootId": boot, "at": before(0) });
        self.annotate(node, names::REPORT_ANNOTATION, &report.to_string());
        self.node(node)["status"]["nodeInfo"] = node_info(boot);
    }

    /// For so many seconds in a phase; what else its status has is `more`.
    pub(super) fn upgrade(&mut self, node: &str, phase: &str, seconds: i64, more: &Value) {
        self.upgrades.retain(|one| one["metadata"]["name"] != node);
        let mut status = json!({ "phase": phase, "since": before(seconds), "run": "r1" });
        for (key, value) in more.as_object().unwrap() {
            status[key] = value.clone();
        }
        let (version, kind) = ("blackstart.io/v1alpha1", "NodeUpgrade");
        self.upgrades
            .push(json!({ "apiVersion": version, "kind": kind, "metadata": { "name": node }, "status": status }));
    }

    /// Made so many seconds ago, with our label or without.
    pub(super) fn secret(&mut self, name: &str, seconds: i64, is_labelled: bool) {
        self.secrets.retain(|one| one["name"] != name);
        let labels = if is_labelled { json!({ names::SECRET_LABEL: "true" }) } else { json!({}) };
        let (uid, made) = (format!("uid-{name}"), before(seconds));
        self.secrets.push(json!({ "name": name, "uid": uid, "labels": labels, "creationTimestamp": made }));
    }

    fn found(&self, evaluate: impl Fn(&Seen<'_>) -> Vec<Finding>) -> Vec<Finding> {
        let nodes: Vec<ApiNode> = read(&self.nodes);
        let of_app = |status: Value| {
            let spec = json!({ "replicas": status["wanted"], "selector": {}, "template": {} });
            json!({ "metadata": {}, "spec": spec, "status": status })
        };
        let controller = self.controller.map(|(wanted, ready)| json!({ "wanted": wanted, "readyReplicas": ready }));
        let daemon_set = json!({ "metadata": {}, "spec": { "selector": {}, "template": {} } });
        let seen = Seen {
            by_agents: self.by_agents,
            upgrades: self.has_kind.then(|| read(&self.upgrades)),
            controller: controller.map(|status| serde_json::from_value(of_app(status)).unwrap()),
            daemon_set: self.daemon_set.then(|| serde_json::from_value(daemon_set).unwrap()),
            doors: read(&self.doors),
            secrets: read(&self.secrets),
            leaving: read(&self.leaving),
            budgets: read(&self.budgets),
            ..Seen::new(&nodes, now())
        };
        evaluate(&seen)
    }

    /// A line per finding.
    pub(super) fn reported(&self, evaluate: impl Fn(&Seen<'_>) -> Vec<Finding>) -> String {
        let line = |finding: &Finding| format!("{} {:?} {}", finding.id(), finding.kind, finding.evidence);
        self.found(evaluate).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// What is to be done about each.
    pub(super) fn fixes(&self, evaluate: impl Fn(&Seen<'_>) -> Vec<Finding>) -> String {
        self.found(evaluate).into_iter().map(|finding| finding.fix).collect::<Vec<_>>().join("\n")
    }
}

fn read<T: serde::de::DeserializeOwned>(values: &[Value]) -> Vec<T> {
    values.iter().map(|value| serde_json::from_value(value.clone()).unwrap()).collect()
}

fn node_info(boot: &str) -> Value {
    json!({ "bootID": boot, "architecture": "", "containerRuntimeVersion": "", "kernelVersion": "", "kubeProxyVersion": "",
            "kubeletVersion": "", "machineID": "", "operatingSystem": "", "osImage": "", "systemUUID": "" })
}
