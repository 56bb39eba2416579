//! What the audit log holds: who changed what, and who looked at secrets; never the secrets themselves.

use serde_json::json;

use crate::yaml;

/// Asked all the time, and open to everybody who may ask anything.
const QUIET: &[&str] = &["/livez*", "/readyz*", "/healthz*", "/version", "/metrics", "/openapi/*"];

/// They read everything, all the time.
const COMPONENTS: &[&str] = &["system:kube-controller-manager", "system:kube-scheduler", "system:kube-proxy"];

/// The API server's audit policy. The first rule that fits decides.
pub(super) fn policy() -> String {
    let rules = [
        json!({ "level": "None", "nonResourceURLs": QUIET }),
        // Itself, to itself: at every start hundreds of requests, which are always the same.
        json!({ "level": "None", "users": ["system:apiserver"] }),
        // Every node and every elected leader says every few seconds that it lives.
        json!({ "level": "None", "resources": [
            { "group": "coordination.k8s.io", "resources": ["leases"] },
            { "group": "", "resources": ["events"] },
            { "group": "events.k8s.io", "resources": ["events"] },
        ]}),
        json!({ "level": "None", "userGroups": ["system:nodes"], "resources": [
            { "group": "", "resources": ["nodes/status", "pods/status"] },
        ]}),
        // Bodies of these hold credentials.
        json!({ "level": "Metadata", "resources": [
            { "group": "", "resources": ["secrets", "configmaps", "serviceaccounts/token"] },
            { "group": "authentication.k8s.io", "resources": ["tokenreviews"] },
        ]}),
        json!({ "level": "None", "verbs": ["get", "list", "watch"], "userGroups": ["system:nodes"] }),
        json!({ "level": "None", "verbs": ["get", "list", "watch"], "users": COMPONENTS }),
        json!({ "level": "None", "verbs": ["get", "list", "watch"], "userGroups": ["system:serviceaccounts:kube-system"] }),
        // A user who gets into a container leaves a trace.
        json!({ "level": "Request", "resources": [
            { "group": "", "resources": ["pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "services/proxy"] },
        ]}),
        json!({ "level": "Request", "verbs": ["create", "update", "patch", "delete", "deletecollection"], "resources": [
            { "group": "rbac.authorization.k8s.io" },
            { "group": "certificates.k8s.io" },
            { "group": "admissionregistration.k8s.io" },
        ]}),
        json!({ "level": "Metadata" }),
    ];
    yaml::document(&json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        // The second stage says the same again, and more.
        "omitStages": ["RequestReceived"],
        "omitManagedFields": true,
        "rules": rules,
    }))
}
