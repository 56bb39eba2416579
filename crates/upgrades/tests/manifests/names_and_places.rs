//! Names, places, and what the pods are.

use std::{collections::BTreeSet, fs};

use kubeapi::pod::{HEALTHY, READY};
use serde_json::{Value, json};
use upgrades::names;

use crate::{FILES, dir, objects, one, text};

#[test]
fn a_kustomization_names_all_files() {
    let listed = text(&dir().join("kustomization.yaml"));
    let listed: Vec<&str> = listed.lines().filter_map(|line| line.strip_prefix("  - ")).collect();
    assert_eq!(listed, FILES);
    let there = fs::read_dir(dir()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let expected = FILES.into_iter().chain(["kustomization.yaml"]).map(ToOwned::to_owned);
    assert_eq!(there.collect::<BTreeSet<_>>(), expected.collect());
}

#[test]
fn everything_is_called_by_whose_it_is() {
    for object in objects() {
        let (kind, metadata) = (object["kind"].as_str().unwrap(), &object["metadata"]);
        let name = metadata["name"].as_str().unwrap();
        if kind == "Namespace" {
            assert_eq!(name, names::NAMESPACE);
            assert_eq!(metadata["labels"]["pod-security.kubernetes.io/enforce"], "privileged");
            continue;
        }
        let app = metadata["labels"]["app"].as_str().unwrap();
        assert!([names::DAEMON_SET, names::CONTROLLER].contains(&app), "{object}");
        assert!(name.starts_with(app) || kind == "CustomResourceDefinition", "{object}");
        let is_of_cluster = ["Cluster", "ValidatingAdmission", "Custom"].iter().any(|it| kind.starts_with(it));
        let is_of_events = metadata["namespace"] == "default" && ["Role", "RoleBinding"].contains(&kind);
        let expected = if is_of_cluster { Value::Null } else { json!(names::NAMESPACE) };
        assert!(metadata["namespace"] == expected || is_of_events, "{object}");
    }
}

/// Every word under our prefixes, in whatever field or comment it stands, is one of the program's.
#[test]
fn no_label_and_no_annotation_is_unknown() {
    let known = [
        names::SCHEDULE_LABEL,
        names::SECRET_LABEL,
        names::ORDER_ANNOTATION,
        names::REPORT_ANNOTATION,
        names::ENDED_ANNOTATION,
        names::RETRY_ANNOTATION,
        names::ABORT_ANNOTATION,
        names::FINALIZER,
    ];
    let prefixes = [format!("{}/", names::GROUP), "ibm-cloud.kubernetes.io/".to_owned()];
    let mut found = BTreeSet::new();
    for file in FILES {
        let text = text(&dir().join(file));
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "./-".contains(c)));
        let ours = words.filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)));
        found.extend(ours.map(|word| word.trim_end_matches('.').to_owned()));
    }
    let unknown: Vec<&String> = found.iter().filter(|word| !known.contains(&word.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let of_nodes = [names::ORDER_ANNOTATION, names::REPORT_ANNOTATION, names::ENDED_ANNOTATION];
    for needed in [names::SCHEDULE_LABEL, names::SECRET_LABEL].into_iter().chain(of_nodes) {
        assert!(found.contains(needed), "{needed}");
    }
}

#[test]
fn pods_run_where_the_label_is() {
    let set = one("DaemonSet");
    let pod = &set["spec"]["template"]["spec"];
    assert_eq!(set["metadata"]["name"], names::DAEMON_SET);
    assert_eq!(set["spec"]["template"]["metadata"]["labels"], set["spec"]["selector"]["matchLabels"]);
    let expected = json!({ "kubernetes.io/os": "linux", names::SCHEDULE_LABEL: names::SCHEDULED });
    assert_eq!(pod["nodeSelector"], expected);
    assert_eq!(pod["tolerations"], json!([{ "operator": "Exists" }]));
    assert_eq!(pod["serviceAccountName"], names::DAEMON_SET);
    assert_eq!((&pod["hostPID"], &pod["hostNetwork"]), (&json!(true), &Value::Null));
    let [container] = pod["containers"].as_array().unwrap().as_slice() else { panic!("one container") };
    assert_eq!(container["args"], json!(["reprovision", "pod"]));
    assert_eq!(container["env"][0]["name"], "NODE_NAME");
    assert_eq!(container["securityContext"]["privileged"], true);
    let from: Vec<&str> = pod["volumes"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(from, ["host", "tmp"], "the node itself reads its Secret");
}

#[test]
fn the_controller_needs_nothing_of_its_node() {
    let deployment = one("Deployment");
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(deployment["metadata"]["name"], names::CONTROLLER);
    assert_eq!(deployment["spec"]["replicas"], 2);
    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    assert_eq!(labels, &deployment["spec"]["selector"]["matchLabels"]);
    assert_eq!(labels, &one("PodDisruptionBudget")["spec"]["selector"]["matchLabels"]);
    assert_eq!(pod["serviceAccountName"], names::CONTROLLER);
    let [container] = pod["containers"].as_array().unwrap().as_slice() else { panic!("one container") };
    assert_eq!(container["args"], json!(["reprovision", "controller"]));
    let of_pod = json!({ "fieldRef": { "fieldPath": "metadata.name" } });
    assert_eq!(container["env"], json!([{ "name": "POD_NAME", "valueFrom": of_pod }]));
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    let expected = json!({
        "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"] },
    });
    assert_eq!(container["securityContext"], expected);
    assert!(pod["volumes"].as_array().unwrap().iter().all(|volume| volume["hostPath"].is_null()));
}

#[test]
fn probes_ask_for_the_files_that_the_pods_keep() {
    for kind in ["DaemonSet", "Deployment"] {
        let container = &one(kind)["spec"]["template"]["spec"]["containers"][0];
        for (probe, file) in [("livenessProbe", HEALTHY), ("readinessProbe", READY)] {
            assert_eq!(container[probe]["exec"]["command"], json!(["cat", file]), "{kind}");
        }
        assert!(container["volumeMounts"].as_array().unwrap().iter().any(|mount| mount["mountPath"] == "/tmp"));
    }
}

#[test]
fn all_pods_have_the_image_of_this_version() {
    let other = dir().join("../node-bootstrap/iscsi/daemonset-install-iscsi.yaml");
    let other = kubeapi::parse("node-bootstrap", &text(&other)).unwrap();
    let image = |object: &Value| object["spec"]["template"]["spec"]["containers"][0]["image"].clone();
    let expected = other.iter().map(image).find(|image| !image.is_null()).unwrap();
    assert!(expected.as_str().unwrap().ends_with(concat!(":", env!("CARGO_PKG_VERSION"))));
    assert_eq!((image(&one("DaemonSet")), image(&one("Deployment"))), (expected.clone(), expected));
}
