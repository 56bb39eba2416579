//! The Node of a bootstrap node that is gone: nothing deletes it but a hand-over that came to its end.

use kubeapi::k8s_openapi::api::core::v1::Node as ApiNode;

use super::{REMOVE, gone};
use crate::{Check, Checking, Context, Finding, Inconclusive, Part, Roles, codes::BOOTSTRAP_NODE};

/// See [`super::super`].
pub(crate) const CHECK: Check =
    Check::new("bootstrap-node", "a bootstrap node that is gone: its Node", &[BOOTSTRAP_NODE], check)
        .only(Roles::Masters);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let Some(node) = gone(context).await? else { return Ok(Vec::new()) };
        match context.nodes().await? {
            Ok(nodes) => Ok(evaluate(&node.name, nodes).into_iter().collect()),
            Err(why) => Err(Inconclusive::from(why.clone())),
        }
    })
}

fn evaluate(name: &str, nodes: &[ApiNode]) -> Option<Finding> {
    let is_left = nodes.iter().any(|node| node.metadata.name.as_deref() == Some(name));
    let evidence = format!("the Node {name} is in the API, and the machine does not answer");
    is_left.then(|| Finding::warning(BOOTSTRAP_NODE, Part::Workloads, evidence).with_fix(REMOVE))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_its_own_node_counts() {
        let nodes = |name: &str| vec![serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap()];
        assert_eq!(evaluate("bootstrap", &nodes("master-01")), None);
        assert!(evaluate("bootstrap", &nodes("bootstrap")).is_some());
    }
}
