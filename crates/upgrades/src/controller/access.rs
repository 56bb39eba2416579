//! The right of one node to read one Secret, for the time of its run: a Role and its binding to the kubelet's user.
//!
//! So no pod on a node ever holds its Secret, and no node can read another's.

use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::rbac::v1::{Role, RoleBinding},
    kube::{
        self, Api,
        api::{DeleteParams, PostParams},
    },
    unless_gone,
};
use serde_json::{Value, json};

use crate::names::NAMESPACE;

/// Of both objects.
fn name(node: &str) -> String {
    format!("ipb-node-{node}")
}

fn role(node: &str, secret: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": { "name": name(node), "namespace": NAMESPACE },
        "rules": [{ "apiGroups": [""], "resources": ["secrets"], "resourceNames": [secret], "verbs": ["get"] }],
    })
}

fn binding(node: &str) -> Value {
    let group = "rbac.authorization.k8s.io";
    json!({
        "apiVersion": format!("{group}/v1"), "kind": "RoleBinding",
        "metadata": { "name": name(node), "namespace": NAMESPACE },
        "roleRef": { "apiGroup": group, "kind": "Role", "name": name(node) },
        "subjects": [{ "apiGroup": group, "kind": "User", "name": format!("system:node:{node}") }],
    })
}

/// The node may read it. A Role of an earlier run may name another Secret.
pub(super) async fn grant(client: &Client, node: &str, secret: &str) -> Result<(), ApiError> {
    let doing = format!("let node {node} read Secret {secret}");
    let wanted: Role = serde_json::from_value(role(node, secret)).map_err(|error| unusable(&doing, &error))?;
    let roles: Api<Role> = Api::namespaced(client.clone(), NAMESPACE);
    let there = roles.get_opt(&name(node)).await.map_err(ApiError::of(&*doing))?;
    if there.is_some_and(|there| there.rules != wanted.rules) {
        revoke(client, node).await?;
    }
    unless_there(roles.create(&PostParams::default(), &wanted).await, &doing)?;
    let wanted: RoleBinding = serde_json::from_value(binding(node)).map_err(|error| unusable(&doing, &error))?;
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), NAMESPACE);
    unless_there(bindings.create(&PostParams::default(), &wanted).await, &doing)
}

fn unusable(doing: &str, error: &serde_json::Error) -> ApiError {
    ApiError::Unreachable { doing: doing.to_owned(), why: error.to_string() }
}

fn unless_there<T>(created: Result<T, kube::Error>, doing: &str) -> Result<(), ApiError> {
    match created {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(ApiError::of(doing)(error)),
    }
}

/// It may not any more.
pub(super) async fn revoke(client: &Client, node: &str) -> Result<(), ApiError> {
    let doing = format!("take the right to a Secret from node {node}");
    let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), NAMESPACE);
    unless_gone(bindings.delete(&name(node), &DeleteParams::default()).await, &doing)?;
    let roles: Api<Role> = Api::namespaced(client.clone(), NAMESPACE);
    unless_gone(roles.delete(&name(node), &DeleteParams::default()).await, &doing)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_node_one_secret() {
        let objects = [role("worker-01", "ipb-worker-01"), binding("worker-01")];
        insta::assert_snapshot!(objects.map(|object| serde_json::to_string_pretty(&object).unwrap()).join("\n"));
    }
}
