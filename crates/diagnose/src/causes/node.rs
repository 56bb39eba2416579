//! The Node object of this node, and what the API shows of the others.

use kubeapi::k8s_openapi::api::core::v1::{Node as ApiNode, NodeCondition};
use playbooks::cluster::ids;
use spec::{Role, UnlistedNodes, ValidatedCluster};

use crate::{
    Check, Checking, Context, Finding, Inconclusive, Part,
    codes::{API_REFUSES, NODE_CORDONED, NODE_GONE, NODE_NOT_READY, OTHER_NODE, ROLES_GONE, UNLISTED_NODE},
    view::Unread,
};

/// See [`super`].
pub(crate) const CHECK: Check = Check::new(
    "node",
    "the Node object: there, Ready, not cordoned; the other nodes",
    &[NODE_GONE, NODE_NOT_READY, NODE_CORDONED, OTHER_NODE, UNLISTED_NODE, API_REFUSES, ROLES_GONE],
    check,
);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::NODE_READY).await? {
            return Ok(Vec::new());
        }
        match context.nodes().await? {
            Ok(nodes) => {
                let mut found = evaluate(&context.cluster, &context.node.name, nodes);
                // Masters that a bootstrap node waits for have a check of their own.
                let waits = context.node.has(Role::Bootstrap);
                found.retain(|finding| !(waits && finding.code == Some(OTHER_NODE)));
                Ok(found)
            }
            Err(Unread::Refused { status, message }) => {
                let kubeconfig = context.objects().await?.kubeconfig.display().to_string();
                Ok(vec![refused(*status, &kubeconfig, message)])
            }
            Err(other) => Err(Inconclusive::from(other.clone())),
        }
    })
}

/// The API server does not know us, or knows us and does not let us.
fn refused(status: u16, kubeconfig: &str, message: &str) -> Finding {
    let evidence = format!("{kubeconfig} gets the answer {status}: {message}");
    if status == 401 {
        Finding::symptom(API_REFUSES, Part::Api, evidence)
    } else {
        Finding::cause(ROLES_GONE, Part::Api, evidence)
    }
}

fn evaluate(cluster: &ValidatedCluster, own: &str, nodes: &[ApiNode]) -> Vec<Finding> {
    let find = |name: &str| nodes.iter().find(|node| node.metadata.name.as_deref() == Some(name));
    let mut found = of_own(own, find(own));
    for other in cluster.nodes().iter().filter(|other| other.name != own) {
        let failure = match find(&other.name) {
            None => Some("has not joined, or its Node was deleted".to_owned()),
            Some(node) => not_ready(node).map(|why| format!("is not Ready: {why}")),
        };
        let evidence = failure.map(|failure| format!("{} {failure}", other.name));
        found.extend(evidence.map(|evidence| Finding::warning(OTHER_NODE, Part::Workloads, evidence)));
    }
    if cluster.bootstrap().unlisted_nodes == UnlistedNodes::Deny {
        let names = nodes.iter().filter_map(|node| node.metadata.name.as_deref());
        let unlisted: Vec<&str> = names.filter(|name| cluster.machine(name).is_none()).collect();
        if !unlisted.is_empty() {
            let evidence = format!("{} in the API, and not in cluster.yaml", unlisted.join(", "));
            found.push(Finding::warning(UNLISTED_NODE, Part::Workloads, evidence));
        }
    }
    found
}

fn of_own(name: &str, node: Option<&ApiNode>) -> Vec<Finding> {
    let Some(node) = node else {
        let evidence = format!("the API knows no Node {name}, which was there before");
        return vec![Finding::symptom(NODE_GONE, Part::Node, evidence)];
    };
    let mut found = Vec::new();
    if let Some(why) = not_ready(node) {
        found.push(Finding::symptom(NODE_NOT_READY, Part::Node, format!("Node {name} is not Ready: {why}")));
    }
    if node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true) {
        let evidence = format!("Node {name} is marked as unschedulable");
        found
            .push(Finding::warning(NODE_CORDONED, Part::Node, evidence).with_fix(format!("`kubectl uncordon {name}`")));
    }
    found
}

/// The kubelet's own words, or those of the one who misses it.
fn not_ready(node: &ApiNode) -> Option<String> {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    let ready = conditions.into_iter().flatten().find(|condition| condition.type_ == "Ready");
    let Some(NodeCondition { status, message, reason, last_transition_time, .. }) = ready else {
        return Some("the kubelet has not reported yet".to_owned());
    };
    if status == "True" {
        return None;
    }
    let why = message.clone().or_else(|| reason.clone()).unwrap_or_else(|| "no reason given".to_owned());
    let since = last_transition_time.as_ref().map(|time| format!(" (since {:.0})", time.0)).unwrap_or_default();
    Some(format!("{why}{since}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::cluster;

    fn node(name: &str, ready: &str, message: &str, more: &Value) -> ApiNode {
        serde_json::from_value(json!({
            "metadata": {"name": name}, "spec": more,
            "status": {"conditions": [{"type": "Ready", "status": ready, "message": message,
                       "lastTransitionTime": "2026-11-16T03:00:00Z"}]},
        }))
        .unwrap()
    }

    fn reported(nodes: &[ApiNode]) -> Vec<String> {
        let line = |finding: &Finding| format!("{} {:?} {}", finding.id(), finding.kind, finding.evidence);
        evaluate(&cluster(), "worker-01", nodes).iter().map(line).collect()
    }

    #[test]
    fn a_node_and_its_neighbours() {
        let master = || node("master-01", "True", "", &json!({}));
        assert_eq!(reported(&[master(), node("worker-01", "True", "", &json!({}))]), [""; 0]);
        assert_eq!(
            reported(&[master()]),
            ["BS-DIAG-049 Symptom the API knows no Node worker-01, which was there before"]
        );
        assert_eq!(
            reported(&[
                master(),
                node("worker-01", "False", "cni plugin not initialized", &json!({"unschedulable": true}))
            ]),
            [
                "BS-DIAG-050 Symptom Node worker-01 is not Ready: cni plugin not initialized (since 2026-11-16T03:00:00Z)",
                "BS-DIAG-051 Warning Node worker-01 is marked as unschedulable",
            ]
        );
        assert_eq!(
            reported(&[node("worker-01", "True", "", &json!({})), node("stranger", "True", "", &json!({}))]),
            [
                "BS-DIAG-052 Warning master-01 has not joined, or its Node was deleted",
                "BS-DIAG-053 Warning stranger in the API, and not in cluster.yaml",
            ]
        );
    }

    #[test]
    fn who_is_not_known_and_who_may_not() {
        assert_eq!(refused(401, "/etc/kubernetes/agent.conf", "Unauthorized").code, Some(API_REFUSES));
        assert_eq!(refused(403, "/etc/kubernetes/agent.conf", "nodes is forbidden").code, Some(ROLES_GONE));
    }
}
