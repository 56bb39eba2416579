//! Programs and files of others that judge what the driver has made: real Ignition, and `OpenShift`'s own CRD.

use std::{fs, os::unix::fs::chown, path::Path};

use serde_json::{Value, json};

use crate::{
    MASTER, WORKER, openshift,
    served::ENCAPSULATED,
    support::{Cluster, TestLab, run, text},
};

const IGNITION: &str = "/var/cache/blackstart/ignition/bin";
/// The daemon gives it to root alone, and Ignition does not.
const KUBECONFIG: &str = "/etc/kubernetes/kubeconfig";
/// Of August 2026, and known to the checksum database.
const MODULE: &str = "github.com/openshift/api@v0.0.0-20260813212709-d4bb0b443cb8";
const CRD: &str = "payload-manifests/crds/0000_80_machine-config_01_machineconfigs.crd.yaml";

/// Ignition writes the same payload into a directory; what is there is on the machine as well: bytes, modes, units and links.
pub(crate) fn ignition_agrees(cluster: &Cluster, served: &Value) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    ignite(dir.path(), &root, served);
    let files = served["storage"]["files"].as_array().unwrap().iter().map(|file| text(&file["path"]));
    let files: Vec<String> = files.filter(|path| path != ENCAPSULATED).collect();
    assert!(files.len() > 8, "{files:?}");
    let has_mode = |path: &&String| *path != KUBECONFIG;
    let modes: String = files.iter().filter(has_mode).map(|path| format!("stat -c '%a %n' '.{path}'\n")).collect();
    let sums: String = files.iter().map(|path| format!("sha256sum '.{path}'\n")).collect();
    let units =
        run("find", &[&show(&root), "-path", "*/etc/systemd/system/*", "!", "-type", "d", "-printf", "%P\n"]).ok();
    assert!(units.lines().count() >= 6, "{units}");
    let units = units.lines().map(|path| format!("stat -c '%a %N' './{path}'; sha256sum < './{path}'\n"));
    let look = format!("set -e; cd ROOT; {modes}{sums}{}", units.collect::<String>());
    let by_ignition = run("sh", &["-c", &look.replace("ROOT", &show(&root))]).ok();
    let by_us = cluster.sh(WORKER, &look.replace("ROOT", "/"));
    assert_eq!(by_us, by_ignition.trim(), "left: on the machine, right: by Ignition");
    let presets = fs::read_to_string(root.join("etc/systemd/system-preset/20-ignition.preset")).unwrap();
    assert!(presets.lines().count() >= 3, "{presets}");
    // Of a unit that is not to be started it may say nothing.
    for preset in presets.lines().chain(["disable stand-in-off.service"]) {
        let (verb, unit) = preset.split_once(' ').unwrap();
        let state = cluster.try_sh(WORKER, &format!("systemctl is-enabled {unit}")).out;
        assert_eq!(state.trim(), format!("{verb}d"), "{unit}");
    }
}

/// The stages that write nothing to disks. What it knows of users is in files of the root, as on a machine.
fn ignite(dir: &Path, root: &Path, served: &Value) {
    if !Path::new(IGNITION).join("ignition").exists() {
        // Made for machines that it sets up; here only the program is wanted.
        let lab = TestLab::unmade();
        lab.run("up", &["--pivot", "--machines-only", "--masters", "1", "--workers", "0"]).ok();
    }
    for directory in ["etc", "run", "home/core"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for (name, text) in [
        ("passwd", "root:x:0:0::/root:/bin/sh\ncore:x:1000:1000::/home/core:/bin/sh\n"),
        ("group", "root:x:0:\ncore:x:1000:\n"),
        ("shadow", "root:*:1:0:99999:7:::\ncore:*:1:0:99999:7:::\n"),
        ("gshadow", ""),
    ] {
        fs::write(root.join("etc").join(name), text).unwrap();
    }
    chown(root.join("home/core"), Some(1000), Some(1000)).unwrap();
    let (config, cache) = (dir.join("served.ign"), dir.join("cache"));
    fs::write(&config, served.to_string()).unwrap();
    run(&format!("{IGNITION}/ignition-validate"), &[&show(&config)]).ok();
    for stage in ["fetch", "files"] {
        let line = format!(
            "IGNITION_CONFIG_FILE={} {IGNITION}/ignition --platform file --stage {stage} --root {} --config-cache {} --log-to-stdout",
            show(&config),
            show(root),
            show(&cache)
        );
        run("sh", &["-c", &line]).ok();
    }
}

/// `OpenShift`'s CRD takes what the daemon was given, and would not take it damaged. Its files come with its Go module each time.
pub(crate) fn crd_takes(cluster: &Cluster) {
    let module = run("sh", &["-c", &format!("cd /tmp && go mod download -json {MODULE}")]).ok();
    let module: Value = serde_json::from_str(&module).unwrap();
    let crd = fs::read_to_string(Path::new(&text(&module["Dir"])).join(CRD)).unwrap();
    cluster.apply(&crd);
    let name = "machineconfigs.machineconfiguration.openshift.io";
    cluster.kubectl(&["wait", "crd", name, "--for=condition=Established", "--timeout=60s"]);
    let given: Value = serde_json::from_str(&openshift::given(cluster)).unwrap();
    let judged = |config: &Value| {
        let arguments = [MASTER, "--", "kubectl", "apply", "--dry-run=server", "--validate=strict", "-f", "-"];
        cluster.lab.feed("exec", &arguments, config.to_string().as_bytes())
    };
    judged(&given).ok();
    for (field, value) in [("osImageURL", json!(5)), ("osImageUrl", json!("x")), ("kernelArguments", json!("one"))] {
        let mut damaged = given.clone();
        damaged["spec"][field] = value;
        let output = judged(&damaged);
        assert!(output.code != Some(0) && output.err.contains(field), "{field}: {output:?}");
    }
    cluster.kubectl(&["delete", "crd", name]);
}

fn show(path: &Path) -> String {
    path.display().to_string()
}
