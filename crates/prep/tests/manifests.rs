//! The manifests say what this program says, and what the documents promise.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails is a test that fails")]

use std::{collections::BTreeSet, fs, path::PathBuf};

use prep::{Prep, names, paths};
use serde_json::{Value, json};

/// Which files a directory has, beside its kustomization.
const FILES: [(Prep, &[&str]); 2] = [
    (Prep::Iscsi, &["rbac.yaml", "daemonset-install-iscsi.yaml"]),
    (Prep::Gpu, &["rbac.yaml", "gpu-bootstrap-configmap.yaml", "gpu-bootstrap-daemonset.yaml"]),
];

fn read(prep: Prep, file: &str) -> Vec<Value> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../infrastructure/node-bootstrap").join(prep.name());
    let path = dir.join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    kubeapi::parse(file, &text).unwrap()
}

fn objects(prep: Prep) -> Vec<Value> {
    let (_, files) = FILES.into_iter().find(|(one, _)| *one == prep).unwrap();
    files.iter().flat_map(|file| read(prep, file)).collect()
}

fn one<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    let mut found = objects.iter().filter(|object| object["kind"] == kind);
    let one = found.next().unwrap_or_else(|| panic!("no {kind}"));
    assert!(found.next().is_none(), "more than one {kind}");
    one
}

fn daemon_set(prep: Prep) -> Value {
    one(&objects(prep), "DaemonSet").clone()
}

#[test]
fn a_kustomization_names_all_files() {
    for (prep, files) in FILES {
        let path = format!("../../infrastructure/node-bootstrap/{prep}/kustomization.yaml");
        let text = fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let listed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  - ")).collect();
        assert_eq!(listed, files, "{prep}");
    }
}

#[test]
fn everything_has_the_name_and_the_label_of_its_preparation() {
    for prep in Prep::ALL {
        let name = names::daemon_set(prep);
        for object in objects(prep) {
            let metadata = &object["metadata"];
            assert!(metadata["name"].as_str().unwrap().starts_with(&name), "{object}");
            assert_eq!(metadata["labels"]["app"], name, "{object}");
            let is_role_for_events =
                object["kind"] == "RoleBinding" || object["rules"][0]["resources"] == json!(["events"]);
            let is_of_events = metadata["namespace"] == "default" && is_role_for_events;
            let is_of_cluster = object["kind"].as_str().unwrap().starts_with("Cluster")
                || object["kind"].as_str().unwrap().starts_with("ValidatingAdmission");
            assert!(metadata["namespace"] == names::NAMESPACE || is_of_events || is_of_cluster, "{object}");
        }
        let set = daemon_set(prep);
        assert_eq!(set["metadata"]["name"], name);
        assert_eq!(set["spec"]["selector"]["matchLabels"], json!({ "app": name }));
        assert_eq!(set["spec"]["template"]["metadata"]["labels"], json!({ "app": name }));
    }
}

#[test]
fn pods_reach_every_node_and_its_file_system() {
    for prep in Prep::ALL {
        let set = daemon_set(prep);
        let pod = &set["spec"]["template"]["spec"];
        assert_eq!(pod["tolerations"], json!([{ "operator": "Exists" }]));
        let update = &set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"];
        assert_eq!(update, "100%", "nodes that stay not ready keep no other from a new pod");
        assert_eq!((&pod["hostPID"], &pod["hostNetwork"]), (&json!(true), &Value::Null));
        assert_eq!(pod["priorityClassName"], "system-node-critical");
        assert_eq!(pod["serviceAccountName"], names::daemon_set(prep));
        let [container] = pod["containers"].as_array().unwrap().as_slice() else { panic!("one container") };
        let image = format!("{}:{}", names::IMAGE, env!("CARGO_PKG_VERSION"));
        assert_eq!(container["image"], image);
        assert_eq!(container["args"], json!(["prep", "pod", prep.name()]));
        assert_eq!(container["securityContext"]["privileged"], true);
        let mounts = container["volumeMounts"].as_array().unwrap();
        let mounted: Vec<&str> = mounts.iter().map(|mount| mount["mountPath"].as_str().unwrap()).collect();
        assert_eq!(mounted, ["/host", "/bootstrap", "/tmp"]);
        let variables = container["env"].as_array().unwrap();
        let variables: Vec<&str> = variables.iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(variables, ["NODE_NAME", "CHECK_INTERVAL", "MAX_CONCURRENT"]);
        let port = names::metrics_port(prep);
        assert_eq!(container["ports"][0]["containerPort"], port);
        let annotations = &set["spec"]["template"]["metadata"]["annotations"];
        assert_eq!(annotations["prometheus.io/port"], port.to_string());
    }
}

#[test]
fn limits_and_probes_are_those_of_the_documents() {
    let resources = |requests: (&str, &str), limits: (&str, &str)| json!({ "requests": { "cpu": requests.0, "memory": requests.1 }, "limits": { "cpu": limits.0, "memory": limits.1 } });
    let probe = |command: &[&str], delay: u32, period: u32| {
        json!({ "exec": { "command": command }, "initialDelaySeconds": delay, "periodSeconds": period,
                "failureThreshold": 3, "timeoutSeconds": 10 })
    };
    let script = format!("/host{}", paths::script(Prep::Iscsi).display());
    for (prep, name, resources, live, ready) in [
        (
            Prep::Iscsi,
            "installer",
            resources(("10m", "32Mi"), ("50m", "64Mi")),
            probe(&["cat", "/tmp/healthy"], 30, 60),
            probe(&["cat", &script, "/tmp/ready"], 10, 30),
        ),
        (
            Prep::Gpu,
            "gpu-bootstrap",
            resources(("10m", "64Mi"), ("100m", "256Mi")),
            probe(&["probe", "live", "gpu"], 120, 60),
            probe(&["probe", "ready", "gpu"], 60, 30),
        ),
    ] {
        let set = daemon_set(prep);
        let container = &set["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["name"], name);
        assert_eq!(container["resources"], resources);
        assert_eq!(container["livenessProbe"], live);
        assert_eq!(container["readinessProbe"], ready);
    }
}

#[test]
fn the_script_only_calls_the_installed_program() {
    for prep in Prep::ALL {
        let objects = objects(prep);
        let map = one(&objects, "ConfigMap");
        let key = paths::script(prep).file_name().unwrap().to_str().unwrap().to_owned();
        let script = map["data"][&key].as_str().unwrap();
        assert!(script.starts_with("#!/bin/sh\nset -eu\n"), "{script}");
        let dir = paths::program(prep).parent().unwrap().display().to_string();
        let call = format!("exec \"$here/blackstart\" prep {prep} $(cat \"$here/options\") \"$@\"\n");
        assert!(script.contains(&format!("here={dir}\n")) && script.ends_with(&call), "{script}");
        assert_eq!(paths::options(prep).display().to_string(), format!("{dir}/options"));
        assert_eq!(map["data"]["options"], "");
        let volumes = &daemon_set(prep)["spec"]["template"]["spec"]["volumes"];
        assert_eq!(volumes[1]["configMap"]["name"], map["metadata"]["name"]);
    }
}

#[test]
fn pods_may_do_no_more_than_they_do() {
    for prep in Prep::ALL {
        let objects = objects(prep);
        let rules = objects.iter().filter_map(|object| object["rules"].as_array()).flatten();
        let may: BTreeSet<String> = rules.map(|rule| format!("{} {}", rule["resources"], rule["verbs"])).collect();
        let expected = [
            r#"["events"] ["create","patch"]"#,
            r#"["leases"] ["get","list","create","update","delete"]"#,
            r#"["nodes"] ["get","list","patch"]"#,
        ];
        assert_eq!(may, expected.map(ToOwned::to_owned).into());
        let policies: Vec<String> = objects
            .iter()
            .filter(|object| object["kind"] == "ValidatingAdmissionPolicy")
            .map(|policy| policy["spec"].to_string())
            .collect();
        assert_eq!(policies.len(), 2);
        let account = format!("system:serviceaccount:{}:{}", names::NAMESPACE, names::daemon_set(prep));
        assert!(policies.iter().all(|policy| policy.contains(&account)), "{policies:?}");
        assert!(policies[0].contains("authentication.kubernetes.io/node-name"), "{policies:?}");
        assert!(policies[0].contains(&format!("['{}']", names::label(prep))), "{policies:?}");
        assert!(policies[1].contains(&format!("startsWith('{}')", names::slots(prep).prefix)), "{policies:?}");
        let bound: BTreeSet<&str> = objects.iter().filter_map(|object| object["spec"]["policyName"].as_str()).collect();
        assert_eq!(bound.len(), 2);
    }
}
