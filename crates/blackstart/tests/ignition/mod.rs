//! `blackstart ignition`: from a sealed example to configs, and what is refused.

mod serve;

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::Value;

use super::support::{Trial, example};

const PUBLIC: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@desk\n";

/// A directory with the sealed example.
fn sealed() -> (Trial, String, String) {
    let trial = Trial::empty();
    let [sealed, out] = ["sealed", "ign"].map(|name| trial.path(name).display().to_string());
    trial.run(["config", "seal", &example("pivot"), "--out", &sealed]);
    fs::write(trial.path("key.pub"), PUBLIC).unwrap();
    (trial, sealed, out)
}

fn config(trial: &Trial, name: &str) -> Value {
    serde_json::from_str(&trial.read(&format!("ign/{name}.ign"))).unwrap()
}

/// Everything of a config but contents.
fn outline(config: &Value) -> String {
    let list = |pointer: &str| config.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut text = String::new();
    for entry in list("/storage/directories").iter().chain(&list("/storage/files")) {
        text += &format!("{:04o} {}\n", entry["mode"].as_u64().unwrap(), entry["path"].as_str().unwrap());
    }
    for unit in list("/systemd/units") {
        text += &format!("{} enabled: {}\n", unit["name"].as_str().unwrap(), unit["enabled"]);
    }
    text + &format!("users: {}\n", config["passwd"]["users"])
}

#[test]
fn every_machine_gets_its_config() {
    let (trial, sealed, out) = sealed();
    let key = trial.path("key.pub").display().to_string();
    let render = ["ignition", "render", &example("pivot"), "--sealed", &sealed, "--out", &out, "--ssh-key", &key];
    insta::assert_snapshot!("ignition-render", trial.run(render));
    for name in ["bootstrap", "master-01", "worker-01"] {
        insta::assert_snapshot!(format!("ignition-{name}"), outline(&config(&trial, name)));
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files = ["bootstrap.ign", "master-02.ign", "kubeconfigs/admin.kubeconfig"];
    assert_eq!(files.map(|name| mode(&trial.path("ign").join(name))), [0o600; 3]);
    assert_eq!(["", "kubeconfigs"].map(|name| mode(&trial.path("ign").join(name))), [0o700; 2]);

    // The same again, and what it is made from is in no output.
    let written = trial.tree();
    let again = trial.run(render.into_iter().chain(["-o", "json"]));
    assert!(again.starts_with("exit 0") && again.contains("\"files_written\": 0"), "{again}");
    assert_eq!(trial.tree(), written);
    let secret = trial.read("sealed/bootstrap/join-secret");
    assert!(!again.contains(secret.trim()));

    // Other keys are another config, but the kubeconfig stays.
    let kubeconfig = trial.read("ign/kubeconfigs/admin.kubeconfig");
    assert!(kubeconfig.contains("server: \"https://192.168.10.9:6443\""));
    let output = trial.run(render.into_iter().take(7).chain(["--node", "worker-01"]));
    assert!(output.contains("wrote 1 file"), "{output}");
    assert_eq!(trial.read("ign/kubeconfigs/admin.kubeconfig"), kubeconfig);

    let all: Vec<String> = ["bootstrap", "master-01", "worker-01"].map(|name| format!("{out}/{name}.ign")).into();
    let validate = ["ignition", "validate"].into_iter().chain(all.iter().map(String::as_str));
    insta::assert_snapshot!("ignition-validate", trial.run(validate));
}

#[test]
fn a_pointer_holds_a_proof_and_no_secret() {
    let (trial, sealed, out) = sealed();
    let server = "https://192.168.10.9:22623";
    let render = ["ignition", "render", &example("pivot"), "--sealed", &sealed, "--out", &out, "--pointer", server];
    let first = trial.run(render);
    assert!(first.starts_with("exit 0"), "{first}");
    let text = trial.read("ign/pointers/master-01.ign");
    let pointer: Value = serde_json::from_str(&text).unwrap();
    let merged = &pointer["ignition"]["config"]["merge"][0];
    assert_eq!(merged["source"], format!("{server}/config/master-01"));
    assert!(merged["httpHeaders"][0]["value"].as_str().unwrap().starts_with("Bearer master-01."));
    let secret = trial.read("sealed/master-01/join-secret");
    assert!(!text.contains(secret.trim().rsplit('.').next().unwrap()));
    let validated = trial.run(["ignition", "validate", &format!("{out}/pointers/master-01.ign")]);
    assert!(validated.starts_with("exit 0"), "{validated}");
    let written = trial.tree();
    trial.run(render);
    assert_eq!(trial.tree(), written, "a second render keeps what pointers lead to");

    // Another config without another pointer: the old one leads nowhere.
    let key = trial.path("key.pub").display().to_string();
    trial.run(render.into_iter().take(7).chain(["--ssh-key", &key, "--node", "master-01"]));
    let left = ["master-01", "master-02"].map(|name| trial.path(&format!("ign/pointers/{name}.ign")).exists());
    assert_eq!(left, [false, true]);
}

#[test]
fn what_cannot_be_rendered_is_refused_before_anything_is_written() {
    let (trial, sealed, out) = sealed();
    let run = |more: &[&str]| {
        let dir = example("pivot");
        let all = ["ignition", "render", &dir, "--sealed", &sealed, "--out", &out];
        trial.run(all.into_iter().chain(more.iter().copied()))
    };
    fs::write(trial.path("private"), "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2\n").unwrap();
    let private = trial.path("private").display().to_string();
    let mut all = String::new();
    all += &run(&["--node", "master-1"]);
    all += &run(&["--ssh-key", &private]);
    all += &run(&["--pointer", "http://192.168.10.9"]);
    fs::write(trial.path("sealed/master-02/cluster.yaml"), "cluster: {}\n").unwrap();
    all += &run(&[]);
    fs::rename(trial.path("sealed/master-03"), trial.path("sealed/worker-02")).unwrap();
    all += &run(&["--node", "master-03"]);
    fs::rename(trial.path("sealed/worker-02"), trial.path("sealed/master-02.old")).unwrap();
    fs::remove_dir_all(trial.path("sealed/master-02")).unwrap();
    fs::rename(trial.path("sealed/master-02.old"), trial.path("sealed/master-02")).unwrap();
    all += &run(&["--node", "master-02"]);
    assert!(!trial.path("ign").exists() && !all.contains("hunter2"), "{all}");
    insta::assert_snapshot!("ignition-refused", all);
}

#[test]
fn what_is_wrong_with_a_config_is_reported_with_its_position() {
    let trial = Trial::empty();
    let text = "{\n  \"ignition\": { \"version\": \"3.1.0\" },\n  \"storage\": { \"files\": [\n    { \"path\": \"/etc/a\", \"contents\": { \"source\": \"data:,a\" } }\n  ] }\n}\n";
    fs::write(trial.path("a.ign"), text).unwrap();
    let [file, missing] = ["a.ign", "b.ign"].map(|name| trial.path(name).display().to_string());
    insta::assert_snapshot!("ignition-bad", trial.run(["ignition", "validate", &file, &missing]));
    insta::assert_snapshot!("ignition-bad-json", trial.run(["ignition", "validate", &file, "-o", "json"]));
}
