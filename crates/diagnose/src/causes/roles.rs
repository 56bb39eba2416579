//! Roles and bindings that every cluster of ours has: without them kubelets cannot be reached and agents see no nodes.

use std::time::Duration;

use playbooks::cluster::ids;
use serde_json::Value;
use tokio::time::timeout;

use crate::{Check, Checking, Context, Finding, Inconclusive, Part, Roles, codes::ROLES_GONE, view::Unread};

/// See [`super`].
pub(crate) const CHECK: Check =
    Check::new("roles", "the roles and bindings that nodes and administrators need", &[ROLES_GONE], check)
        .only(Roles::Masters);

const LIMIT: Duration = Duration::from_secs(4);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        if !context.was_done(ids::ROLES).await? {
            return Ok(Vec::new());
        }
        let wanted = render::objects::rbac(&context.cluster);
        let client = context.objects().await?.client()?;
        let differing = timeout(LIMIT, kubeapi::differing(client, &wanted)).await;
        let differing = differing.map_err(|_| Inconclusive("the API does not answer".to_owned()))?;
        Ok(evaluate(&differing.map_err(Unread::from)?).into_iter().collect())
    })
}

fn evaluate(differing: &[Value]) -> Option<Finding> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let described = |object: &Value| format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]));
    let all: Vec<String> = differing.iter().map(described).collect();
    let evidence = format!("missing or changed: {}", all.join(", "));
    (!all.is_empty()).then(|| Finding::cause(ROLES_GONE, Part::Api, evidence))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_differs_is_named() {
        assert_eq!(evaluate(&[]), None);
        let binding = json!({"kind": "ClusterRoleBinding", "metadata": {"name": "blackstart:agent"}});
        assert_eq!(evaluate(&[binding]).unwrap().evidence, "missing or changed: ClusterRoleBinding blackstart:agent");
    }
}
