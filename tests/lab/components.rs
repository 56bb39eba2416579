//! The components: the same on every machine, of the versions in the manifest, and installed without any network.

use std::{fs, path::Path, process::Command};

use serde_json::Value;

use crate::support::{PROGRAM, TestLab, run, turn};

const BUNDLE: &str = "/var/cache/blackstart/bundle";

#[test]
fn every_machine_has_the_components_of_the_manifest() {
    let _turn = turn();
    let lab = TestLab::with(1, 1);
    let manifest: Value = serde_json::from_slice(&fs::read(Path::new(BUNDLE).join("manifest.json")).unwrap()).unwrap();
    let version = |name: &str| {
        let components = manifest["components"].as_array().unwrap();
        let found = components.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name} in {manifest}"));
        found["version"].as_str().unwrap().to_owned()
    };
    for machine in ["master-01", "worker-01"] {
        for (component, line) in [
            ("kubelet", "kubelet --version"),
            ("kube-apiserver", "kube-apiserver --version"),
            ("kube-controller-manager", "kube-controller-manager --version"),
            ("kube-scheduler", "kube-scheduler --version"),
            ("kube-proxy", "kube-proxy --version"),
            ("kubectl", "kubectl version --client"),
            ("etcd", "etcd --version"),
            ("containerd", "containerd --version"),
            ("runc", "runc --version"),
        ] {
            let output = lab.sh(machine, line);
            assert!(output.contains(&version(component)), "{machine}: {line}: {output}");
        }
        assert_eq!(lab.sh(machine, "ls /opt/cni/bin | tr '\\n' ' '").trim(), "bridge host-local loopback portmap ptp");
        let sums = "cd /opt/blackstart/current && sha256sum bin/* cni/* images/*";
        for line in lab.sh(machine, sums).lines() {
            let (sum, path) = line.split_once("  ").unwrap();
            assert!(manifest.to_string().contains(sum), "{machine}: {path} is not what the manifest says");
        }
    }
}

/// The air gap: a machine that reaches nothing gets an archive and needs no more.
#[test]
fn a_packed_bundle_installs_where_there_is_no_network() {
    let _turn = turn();
    let lab = TestLab::with(1, 0);
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let archive = dir.path().join("bundle.tar.zst").display().to_string();
    run(PROGRAM, &["bundle", "pack", BUNDLE, &archive]).ok();
    lab.run("cut", &["master-01"]).ok();
    lab.run("cp", &[&archive, "master-01:/srv"]).ok();
    let blackstart = |line: &str| lab.sh("master-01", &format!("cd /srv && blackstart bundle {line}"));
    blackstart("unpack bundle.tar.zst bundle");
    blackstart("install bundle --root /srv/fresh");
    assert_eq!(lab.sh("master-01", "readlink /srv/fresh/usr/local/bin/kubelet"), "/opt/blackstart/current/bin/kubelet");
    let installed = lab.sh("master-01", "/srv/fresh/opt/blackstart/current/bin/kubelet --version");
    assert_eq!(installed, lab.sh("master-01", "kubelet --version"));
    assert!(blackstart("install bundle --root /srv/fresh").contains("was installed already"));

    // A byte that flipped on the way is found before anything is changed.
    lab.sh("master-01", "printf x | dd of=/srv/bundle/bin/runc bs=1 seek=4096 conv=notrunc 2>/dev/null");
    let refused =
        lab.run("exec", &["master-01", "--", "blackstart", "bundle", "install", "/srv/bundle", "--root", "/srv/other"]);
    refused.refused(1, "BS-BUNDLE-003");
    assert_eq!(lab.sh("master-01", "ls /srv/other/opt 2>/dev/null | wc -l"), "0");
}

/// An upgrade and the way back are a switch of one link; both bundles stay.
#[test]
fn bundles_lie_side_by_side() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let root = path("root");
    let install = |bundle: &str| run(PROGRAM, &["bundle", "install", bundle, "--root", &root]).ok();
    let _turn = turn();
    for (name, with) in [("one", None), ("two", Some("kubeadm"))] {
        let mut build = Command::new(PROGRAM);
        build.args(["bundle", "build", &path(name)]).args(with.map(|extra| format!("--with={extra}")));
        assert!(build.status().unwrap().success());
    }
    let current = || fs::read_link(dir.path().join("root/opt/blackstart/current")).unwrap();
    install(&path("one"));
    let first = current();
    install(&path("two"));
    let second = current();
    assert_ne!(first, second);
    let kubeadm = dir.path().join("root/opt/blackstart").join(&second).join("bin/kubeadm");
    assert!(kubeadm.exists() && dir.path().join("root/opt/blackstart").join(&first).exists());
    install(&path("one"));
    assert_eq!(current(), first);
}
