//! The manifests alone: at the paths that the documents name, and good for every tool that applies such things.

use std::path::Path;

use prep::Prep;
use serde_json::Value;

use crate::{
    MASTER,
    pods::{MANIFESTS, SOURCE, bring_manifests},
    schemas::{Kubeconform, kinds},
    support::{Check, Cluster},
};

pub(crate) const CHECKS: &[Check] = &[
    ("the files are where the documents say", files),
    ("`kubectl kustomize` builds both directories, and the API server takes them by strict validation", server),
    ("kubeconform finds nothing by the cluster's own schemas, and finds what is wrong", kubeconform),
];

const FILES: [&str; 5] = [
    "iscsi/daemonset-install-iscsi.yaml",
    "iscsi/kustomization.yaml",
    "gpu/gpu-bootstrap-configmap.yaml",
    "gpu/gpu-bootstrap-daemonset.yaml",
    "gpu/kustomization.yaml",
];

fn files(_: &Cluster) {
    for file in FILES {
        assert!(Path::new(SOURCE).join(file).is_file(), "{file}");
    }
}

fn server(cluster: &Cluster) {
    bring_manifests(cluster);
    for prep in Prep::ALL {
        let built = built(cluster, prep);
        assert!(built.contains("kind: DaemonSet") && built.contains("kind: ConfigMap"), "{built}");
        let output =
            cluster.sh(MASTER, &format!("kubectl apply -k {MANIFESTS}/{prep} --dry-run=server --validate=strict 2>&1"));
        let line = format!("daemonset.apps/rke2-node-bootstrap-{prep} ");
        assert!(output.contains(&line) && output.contains("(server dry run)"), "{output}");
        assert!(!output.to_lowercase().contains("warning"), "{output}");
    }
}

fn kubeconform(cluster: &Cluster) {
    bring_manifests(cluster);
    for prep in Prep::ALL {
        let list = cluster.kubectl(&["apply", "-k", &format!("{MANIFESTS}/{prep}"), "--dry-run=client", "-o", "json"]);
        let list: Value = serde_json::from_str(&list).unwrap();
        let objects = list["items"].as_array().unwrap();
        let kubeconform = Kubeconform::with(cluster, &kinds(objects));
        let manifest = built(cluster, prep);
        let output = kubeconform.validate(&manifest).ok();
        let summary = format!(
            "Summary: {0} resources found in 1 file - Valid: {0}, Invalid: 0, Errors: 0, Skipped: 0",
            objects.len()
        );
        assert!(output.contains(&summary), "{output}");

        for (right, wrong) in [("tolerations:", "tolerance:"), ("initialDelaySeconds: ", "initialDelaySeconds: about")]
        {
            assert!(manifest.contains(right), "{manifest}");
            let output = kubeconform.validate(&manifest.replace(right, wrong));
            assert_eq!(output.code, Some(1), "{output:?}");
            assert!(output.out.contains("is invalid"), "{output:?}");
        }
    }
}

fn built(cluster: &Cluster, prep: Prep) -> String {
    cluster.kubectl(&["kustomize", &format!("{MANIFESTS}/{prep}")])
}
