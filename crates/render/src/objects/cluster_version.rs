//! What a cluster that a bootstrap node began has more than others: the kinds `ClusterVersion` and `ClusterOperator`, a subset of
//! `OpenShift`'s, and the Deployment that fills them from what it sees.

use serde_json::{Value, json};
use spec::ValidatedCluster;

use super::role::{API_VERSION, GROUP, cluster_binding, cluster_role, service_account};

const NAMESPACE: &str = "openshift-cluster-version";
const NAME: &str = "cluster-version-operator";
const NONROOT: u32 = 65532;

/// The namespaces of what follows.
pub fn namespaces() -> Vec<Value> {
    let restricted = json!({
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/warn": "restricted",
    });
    vec![json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE, "labels": restricted } })]
}

/// The kinds, with the columns that people know.
pub fn definitions() -> Vec<Value> {
    let status = |kind: &str| format!(".status.conditions[?(@.type==\"{kind}\")].status");
    let since = |kind: &str| format!(".status.conditions[?(@.type==\"{kind}\")].lastTransitionTime");
    let message = |kind: &str| format!(".status.conditions[?(@.type==\"{kind}\")].message");
    let operator = [
        column("Version", "string", ".status.versions[?(@.name==\"operator\")].version"),
        column("Available", "string", &status("Available")),
        column("Progressing", "string", &status("Progressing")),
        column("Degraded", "string", &status("Degraded")),
        column("Since", "date", &since("Available")),
        column("Message", "string", &message("Degraded")),
    ];
    let version = [
        column("Version", "string", ".status.history[?(@.state==\"Completed\")].version"),
        column("Available", "string", &status("Available")),
        column("Progressing", "string", &status("Progressing")),
        column("Since", "date", &since("Progressing")),
        column("Status", "string", &message("Progressing")),
    ];
    let versions = json!({ "type": "array", "items": {
        "type": "object", "required": ["name", "version"],
        "properties": { "name": { "type": "string" }, "version": { "type": "string" } },
    } });
    let history = json!({ "type": "array", "items": {
        "type": "object", "required": ["state", "version", "startedTime"],
        "properties": {
            "state": { "type": "string", "enum": ["Completed", "Partial"] },
            "version": { "type": "string" },
            "startedTime": { "type": "string", "format": "date-time" },
            "completionTime": { "type": "string", "format": "date-time" },
        },
    } });
    let desired = json!({ "type": "object", "properties": { "version": { "type": "string" } } });
    vec![
        definition("ClusterOperator", "clusteroperator", Some("co"), &json!(operator), &[("versions", versions)]),
        definition(
            "ClusterVersion",
            "clusterversion",
            None,
            &json!(version),
            &[("desired", desired), ("history", history)],
        ),
    ]
}

fn column(name: &str, kind: &str, path: &str) -> Value {
    json!({ "name": name, "type": kind, "jsonPath": path })
}

/// A kind of `config.openshift.io/v1` whose status has conditions and these fields.
fn definition(kind: &str, singular: &str, short: Option<&str>, columns: &Value, fields: &[(&str, Value)]) -> Value {
    let plural = format!("{singular}s");
    let conditions = json!({ "type": "array", "items": {
        "type": "object", "required": ["type", "status", "lastTransitionTime"],
        "properties": {
            "type": { "type": "string" },
            "status": { "type": "string", "enum": ["True", "False", "Unknown"] },
            "reason": { "type": "string" },
            "message": { "type": "string" },
            "lastTransitionTime": { "type": "string", "format": "date-time" },
        },
    } });
    let mut properties = json!({ "conditions": conditions });
    for (name, schema) in fields {
        properties[*name] = schema.clone();
    }
    let mut names = json!({ "kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": singular });
    if let Some(short) = short {
        names["shortNames"] = json!([short]);
    }
    let schema = json!({
        "type": "object",
        "properties": {
            "spec": { "type": "object" },
            "status": { "type": "object", "properties": properties },
        },
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.config.openshift.io") },
        "spec": {
            "group": "config.openshift.io",
            "names": names,
            "scope": "Cluster",
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "additionalPrinterColumns": columns,
                "schema": { "openAPIV3Schema": schema },
                "subresources": { "status": {} },
            }],
        },
    })
}

/// What the operator may do: read what it evaluates, by name where names are known, and write what it says of it.
pub(super) fn roles() -> Vec<Value> {
    let rule = |group: &str, resources: &[&str], names: &[&str], verbs: &[&str]| {
        let mut rule = json!({ "apiGroups": [group], "resources": resources, "verbs": verbs });
        if !names.is_empty() {
            rule["resourceNames"] = json!(names);
        }
        rule
    };
    let kinds = ["clusteroperators", "clusterversions"];
    let statuses = ["clusteroperators/status", "clusterversions/status"];
    let everywhere = json!([
        rule("", &["nodes"], &[], &["list"]),
        rule("config.openshift.io", &kinds, &[], &["get", "create", "patch"]),
        rule("config.openshift.io", &statuses, &[], &["patch"]),
    ]);
    let leases = ["kube-controller-manager", "kube-scheduler"];
    let in_kube_system = json!([
        rule("coordination.k8s.io", &["leases"], &leases, &["get"]),
        rule("apps", &["deployments"], &["coredns"], &["get"]),
        rule("", &["configmaps"], &["bootstrap"], &["get"]),
    ]);
    let in_default = json!([rule("discovery.k8s.io", &["endpointslices"], &["kubernetes"], &["get"])]);
    let name = format!("blackstart:{NAME}");
    let account = [service_account(NAMESPACE, NAME)];
    let mut objects = vec![cluster_role(&name, &everywhere), cluster_binding(&name, &name, &account)];
    for (namespace, rules) in [("kube-system", in_kube_system), ("default", in_default)] {
        let metadata = json!({ "name": name, "namespace": namespace });
        objects.push(json!({ "apiVersion": API_VERSION, "kind": "Role", "metadata": metadata, "rules": rules }));
        objects.push(json!({
            "apiVersion": API_VERSION,
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": { "apiGroup": GROUP, "kind": "Role", "name": name },
            "subjects": account,
        }));
    }
    objects
}

/// The operator itself, which runs this image of our own program.
pub fn version_operator(cluster: &ValidatedCluster, image: &str) -> Vec<Value> {
    let metadata = json!({ "name": NAME, "namespace": NAMESPACE });
    let labels = json!({ "k8s-app": NAME });
    vec![
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata }),
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata,
            "spec": {
                "replicas": 1,
                // Two of them would write the same.
                "strategy": { "type": "Recreate" },
                "selector": { "matchLabels": labels },
                "template": { "metadata": { "labels": labels }, "spec": pod(cluster, image) },
            },
        }),
    ]
}

fn pod(cluster: &ValidatedCluster, image: &str) -> Value {
    let mut arguments = vec!["operator".to_owned(), "--masters".to_owned(), cluster.masters().count().to_string()];
    // Leases are held by host names.
    let named = cluster.masters().filter(|master| master.hostname != master.name);
    arguments.extend(named.map(|master| format!("--host={}={}", master.hostname, master.name)));
    json!({
        "serviceAccountName": NAME,
        "priorityClassName": "system-cluster-critical",
        // The image is on every node of the cluster; masters are there first.
        "nodeSelector": { "node-role.kubernetes.io/control-plane": "" },
        "tolerations": [
            { "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule" },
            { "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10 },
            { "key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10 },
        ],
        "terminationGracePeriodSeconds": 5,
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": NONROOT,
            "runAsGroup": NONROOT,
            "seccompProfile": { "type": "RuntimeDefault" },
        },
        "containers": [{
            "name": NAME,
            "image": image,
            "imagePullPolicy": "Never",
            "args": arguments,
            "resources": { "limits": { "memory": "64Mi" }, "requests": { "cpu": "5m", "memory": "16Mi" } },
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": { "drop": ["ALL"] },
                "readOnlyRootFilesystem": true,
            },
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, cluster, manifest};

    #[test]
    fn all_of_it() {
        let image = "blackstart.local/blackstart:0.1.0";
        let mut objects = namespaces();
        objects.extend(definitions());
        objects.extend(roles());
        objects.extend(version_operator(&cluster(HOME), image));
        insta::assert_snapshot!(manifest(&objects));
    }
}
