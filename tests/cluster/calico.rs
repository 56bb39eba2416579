//! A third party's network add-on: the real manifest of Calico, whose images cannot be had here.

use std::{fs, path::PathBuf, process::Command};

use serde_json::Value;

use crate::support::{Cluster, PROGRAM, TestLab, eventually, run, turn};

/// The version that the module proxy has; the manifest in it is that of Calico 3.28.
const MODULE: &str = "github.com/projectcalico/calico@v1.11.0-cni-plugin.0.20250813170300-a0db560f0520";

#[test]
fn a_manifest_is_applied_and_its_images_are_missed() {
    let _turn = turn();
    let lab = TestLab::with(1, 0);
    let cluster = Cluster { lab };
    let dir = tempfile::tempdir().unwrap();
    let manifest = manifest();
    fs::copy(&manifest, dir.path().join("calico.yaml")).unwrap();
    let text = fs::read_to_string(cluster.lab.dir().join("config/cluster.yaml")).unwrap();
    let add_on = "  networking:\n    add_on: manifest\n    manifest: calico.yaml\n";
    fs::write(dir.path().join("cluster.yaml"), text.replace("  networking:\n", add_on)).unwrap();
    let out = cluster.sealed_dir("").display().to_string();
    run(PROGRAM, &["config", "seal", &dir.path().display().to_string(), "--out", &out]).ok();

    cluster.install(&cluster.sealed_dir("master-01"), "master-01");
    let message = || cluster.last_up("master-01").map(|run| run.message()).unwrap_or_default();
    eventually("the bootstrap says what is missing", || message().contains("BS-NODE-002"));
    let output = message();
    assert!(output.contains("docker.io/calico/") && output.contains("v3.28"), "it names the image: {output}");

    let objects = cluster.sh("master-01", "kubectl get -f /etc/cluster-config/calico.yaml -o name | wc -l");
    let documents = fs::read_to_string(&manifest).unwrap().lines().filter(|line| line.starts_with("kind: ")).count();
    assert_eq!(objects.parse::<usize>().unwrap(), documents, "every object was accepted");
}

/// From the module cache, where Go puts it if it is not there.
fn manifest() -> PathBuf {
    let dir = tempfile::tempdir().unwrap();
    let mut download = Command::new("go");
    let downloaded = download.args(["mod", "download", "-json", MODULE]).current_dir(dir.path()).output().unwrap();
    let module: Value = serde_json::from_slice(&downloaded.stdout).unwrap();
    PathBuf::from(module["Dir"].as_str().unwrap_or_else(|| panic!("{module}"))).join("manifests/calico.yaml")
}
