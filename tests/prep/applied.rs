//! `kubectl apply -k`, and that everything is called, limited and probed as the documents say.

use prep::{Prep, names, paths};
use serde_json::{Value, json};

use crate::{
    MASTER, WORKER,
    pods::{await_running, daemon_set, ensure_applied, name},
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("`kubectl apply -k` starts a pod on every node, masters too", everywhere),
    ("the API server keeps names, labels, limits and probes as the documents have them", stored),
    ("the pods may do little more than report on their own Node", least_privilege),
    ("the bootstrap script is on the node as the ConfigMap has it", script),
];

/// What must be true of a DaemonSet, by the path of its value.
type Expected = &'static [(&'static str, fn() -> Value)];

const BOTH: Expected = &[
    ("/metadata/namespace", || json!("kube-system")),
    ("/spec/template/spec/tolerations", || json!([{"operator": "Exists"}])),
    ("/spec/template/spec/containers/0/securityContext/privileged", || json!(true)),
    ("/spec/template/spec/containers/1", || Value::Null),
];

const ISCSI: Expected = &[
    ("/metadata/name", || json!("rke2-node-bootstrap-iscsi")),
    ("/spec/selector/matchLabels/app", || json!("rke2-node-bootstrap-iscsi")),
    ("/spec/template/metadata/labels/app", || json!("rke2-node-bootstrap-iscsi")),
    ("/spec/template/spec/containers/0/name", || json!("installer")),
    (
        "/spec/template/spec/containers/0/resources",
        || json!({"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"cpu": "50m", "memory": "64Mi"}}),
    ),
    ("/spec/template/spec/containers/0/livenessProbe/exec/command", || json!(["cat", "/tmp/healthy"])),
    ("/spec/template/spec/containers/0/livenessProbe/initialDelaySeconds", || json!(30)),
    ("/spec/template/spec/containers/0/livenessProbe/periodSeconds", || json!(60)),
    ("/spec/template/spec/containers/0/livenessProbe/failureThreshold", || json!(3)),
    ("/spec/template/spec/containers/0/readinessProbe/exec/command", || {
        json!(["cat", "/host/usr/local/bin/iscsi-bootstrap.sh", "/tmp/ready"])
    }),
    ("/spec/template/spec/containers/0/readinessProbe/initialDelaySeconds", || json!(10)),
    ("/spec/template/spec/containers/0/readinessProbe/periodSeconds", || json!(30)),
    ("/spec/template/spec/containers/0/readinessProbe/failureThreshold", || json!(3)),
];

const GPU: Expected = &[
    ("/metadata/name", || json!("rke2-node-bootstrap-gpu")),
    ("/spec/selector/matchLabels/app", || json!("rke2-node-bootstrap-gpu")),
    ("/spec/template/metadata/labels/app", || json!("rke2-node-bootstrap-gpu")),
    ("/spec/template/spec/containers/0/name", || json!("gpu-bootstrap")),
    (
        "/spec/template/spec/containers/0/resources",
        || json!({"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"cpu": "100m", "memory": "256Mi"}}),
    ),
    ("/spec/template/spec/containers/0/livenessProbe/exec/command", || json!(["probe", "live", "gpu"])),
    ("/spec/template/spec/containers/0/livenessProbe/initialDelaySeconds", || json!(120)),
    ("/spec/template/spec/containers/0/livenessProbe/periodSeconds", || json!(60)),
    ("/spec/template/spec/containers/0/readinessProbe/exec/command", || json!(["probe", "ready", "gpu"])),
    ("/spec/template/spec/containers/0/readinessProbe/initialDelaySeconds", || json!(60)),
    ("/spec/template/spec/containers/0/readinessProbe/periodSeconds", || json!(30)),
];

fn everywhere(cluster: &Cluster) {
    ensure_applied(cluster);
    for prep in Prep::ALL {
        await_running(cluster, prep, &[MASTER, WORKER]);
    }
}

fn stored(cluster: &Cluster) {
    ensure_applied(cluster);
    for (prep, own) in [(Prep::Iscsi, ISCSI), (Prep::Gpu, GPU)] {
        let stored = daemon_set(cluster, prep);
        for (path, expected) in BOTH.iter().chain(own) {
            let seen = stored.pointer(path).cloned().unwrap_or_default();
            assert_eq!(seen, expected(), "{path} of {}", name(prep));
        }
    }
}

fn least_privilege(cluster: &Cluster) {
    ensure_applied(cluster);
    for prep in Prep::ALL {
        let pods = format!("--as=system:serviceaccount:kube-system:{}", name(prep));
        let label = format!("{}=ready", names::label(prep));
        for (what, arguments) in [
            ("a Node it is not on", &["label", "node", WORKER, label.as_str(), "--overwrite", "--dry-run=server"][..]),
            (
                "a Lease that is no slot",
                &["-n", "kube-system", "delete", "lease", "kube-scheduler", "--dry-run=server"],
            ),
            ("Secrets", &["-n", "kube-system", "get", "secrets"]),
            ("pods", &["-n", "kube-system", "get", "pods"]),
        ] {
            let output = cluster.try_kubectl(&[&[pods.as_str()], arguments].concat());
            assert_eq!(output.code, Some(1), "{what}: {output:?}");
            assert!(output.err.contains("denied") || output.err.contains("forbidden"), "{what}: {output:?}");
        }
    }
}

fn script(cluster: &Cluster) {
    ensure_applied(cluster);
    for prep in Prep::ALL {
        let script = paths::script(prep);
        let key = script.file_name().unwrap().to_string_lossy().into_owned();
        let maps = cluster.get(&["configmaps", "-n", "kube-system"]);
        let kept = maps.iter().find_map(|map| map["data"][&key].as_str());
        let kept = kept.unwrap_or_else(|| panic!("no ConfigMap holds {key}"));
        assert!(kept.starts_with("#!/bin/sh"), "{kept}");
        for machine in [MASTER, WORKER] {
            let there = || cluster.try_sh(machine, &format!("cat {0} && test -x {0}", script.display()));
            eventually(&format!("{key} is on {machine}"), || there().code == Some(0));
            assert_eq!(there().ok(), kept, "{key} on {machine}");
        }
    }
}
