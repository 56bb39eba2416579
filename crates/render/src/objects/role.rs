//! Roles and their bindings.

use serde_json::{Value, json};

pub(super) const GROUP: &str = "rbac.authorization.k8s.io";
pub(super) const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// A role for the whole cluster.
pub(super) fn cluster_role(name: &str, rules: &Value) -> Value {
    json!({ "apiVersion": API_VERSION, "kind": "ClusterRole", "metadata": { "name": name }, "rules": rules })
}

/// Gives a cluster role to some.
pub(super) fn cluster_binding(name: &str, role: &str, subjects: &[Value]) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": "ClusterRoleBinding",
        "metadata": { "name": name },
        "roleRef": { "apiGroup": GROUP, "kind": "ClusterRole", "name": role },
        "subjects": subjects,
    })
}

/// A role of the same name as its binding, which lets some read one configuration.
pub(super) fn may_read(name: &str, namespace: &str, configuration: &str, subjects: &[Value]) -> [Value; 2] {
    let metadata = json!({ "name": name, "namespace": namespace });
    let rules = json!([{
        "apiGroups": [""], "resources": ["configmaps"], "resourceNames": [configuration], "verbs": ["get"],
    }]);
    [
        json!({ "apiVersion": API_VERSION, "kind": "Role", "metadata": metadata, "rules": rules }),
        json!({
            "apiVersion": API_VERSION,
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": { "apiGroup": GROUP, "kind": "Role", "name": name },
            "subjects": subjects,
        }),
    ]
}

/// Everybody in a group.
pub(super) fn group(name: &str) -> Value {
    json!({ "apiGroup": GROUP, "kind": "Group", "name": name })
}

/// One user.
pub(super) fn user(name: &str) -> Value {
    json!({ "apiGroup": GROUP, "kind": "User", "name": name })
}

/// What runs as this account.
pub(super) fn service_account(namespace: &str, name: &str) -> Value {
    json!({ "kind": "ServiceAccount", "name": name, "namespace": namespace })
}
