//! What is gathered holds everything that is promised, and nothing that is secret.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::Value;

use crate::{
    MASTER, WORKER, secrets,
    support::{Check, Cluster, PROGRAM, run},
};

/// On a cluster that is there.
pub(crate) const CHECKS: &[Check] = &[
    ("an archive of a node or a lab holds what is promised and no secret", no_secret),
    ("an archive of a lab with a machine that hangs", hanging),
    ("an archive while the control plane is down", control_plane_down),
    ("an archive where the disk is full", full_disk),
];

/// On a machine where nothing was ever started.
pub(crate) const BEFORE: &[Check] = &[("an archive of a machine where nothing was ever started", never_started)];

const IMAGE: &str = include_str!("../cluster/support/probe-image.sh");

/// Parts of every archive.
const OF_ALL: &[&str] = &[
    "index.json",
    "status.json",
    "diagnosis.json",
    "certificates.txt",
    "files/var/lib/cluster-state/ledger.json",
    "files/var/lib/cluster-state/runs",
    "files/etc/cluster-config/cluster.yaml",
    "files/etc/systemd/system/kubelet.service",
    "files/var/lib/kubelet/config.yaml",
    "files/opt/blackstart/bundles",
    "logs/kubelet.service.log",
    "logs/containerd.service.log",
    "logs/blackstart-agent.service.log",
    "logs/cluster-bootstrap.service.log",
    "logs/errors.log",
    "logs/kernel.log",
    "machine/system.txt",
    "machine/units.txt",
    "machine/disks.txt",
    "machine/mounts.txt",
    "network/addresses.txt",
    "network/routes.txt",
    "network/nftables.txt",
    "network/listening.txt",
    "network/names.txt",
    "api/ready.txt",
    "api/nodes.json",
    "api/pods.json",
];

/// Parts of a master's.
const OF_MASTER: &[&str] = &[
    "etcd/health.txt",
    "etcd/members.txt",
    "etcd/status.json",
    "api/events.json",
    "api/requests.json",
    "logs/etcd.service.log",
    "logs/kube-apiserver.service.log",
    "files/etc/kubernetes/audit-policy.yaml",
];

/// Parts of the worker's: the pod that talks is there; whether another one is on the master is up to the scheduler.
const OF_WORKER: &[&str] = &["files/var/log/pods"];

fn no_secret(cluster: &Cluster) {
    let dir = tempfile::tempdir().unwrap();
    let image = dir.path().join("probe.tar").display().to_string();
    run("sh", &["-euc", IMAGE, "sh", &image]).ok();
    cluster.lab.run("cp", &[&image, &format!("{WORKER}:/root")]).ok();
    cluster.sh(WORKER, "ctr -n k8s.io images import --local /root/probe.tar");
    let mut all = secrets::plant(cluster, WORKER);
    all.extend(secrets::of_objects(cluster));
    for machine in [MASTER, WORKER] {
        all.extend(secrets::of(cluster, machine));
    }
    assert!(all.len() > 40, "there are more secrets than {}", all.len());

    for (machine, parts) in [(MASTER, [OF_ALL, OF_MASTER].concat()), (WORKER, [OF_ALL, OF_WORKER].concat())] {
        let archive = gather_on(cluster, machine, dir.path());
        assert_whole(&archive, &parts);
        assert_clean(&archive, &all);
    }
    let lab = dir.path().join("lab.tar.gz");
    run(PROGRAM, &["gather", "--lab", &cluster.lab.name, "--to", &lab.display().to_string()]).ok();
    assert_eq!(lab.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let archive = unpacked(&lab);
    assert_whole(&archive, &["index.json", "status.json", "computer/network.txt"]);
    for (machine, parts) in [(MASTER, [OF_ALL, OF_MASTER].concat()), (WORKER, [OF_ALL, OF_WORKER].concat())] {
        assert_whole(&archive.join(machine), &parts);
    }
    assert_clean(&archive, &all);
    // What no rule can know to be secret is found, in both forms: the search sees what there is.
    let control = found(&archive, &[secrets::CONTROL.to_owned()].into());
    assert!(control.len() >= 2 && control.iter().all(|file| file.contains("errors.log")), "{control:?}");
    // The places where secrets were planted are there, and what stood beside them too.
    let errors = fs::read_to_string(archive.join(WORKER).join("logs/errors.log")).unwrap();
    assert!(errors.contains("planted: ") && errors.contains("[redacted]"), "{errors}");
    let talk = run("grep", &["-rl", "the word is", &archive.join(WORKER).display().to_string()]).ok();
    assert!(talk.contains("kube-system_planted"), "{talk}");
}

fn hanging(cluster: &Cluster) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lab.tar.gz").display().to_string();
    cluster.lab.run("pause", &[WORKER]).ok();
    let output = run(PROGRAM, &["gather", "--lab", &cluster.lab.name, "--to", &path]);
    cluster.lab.run("resume", &[WORKER]).ok();
    assert!(output.err.contains("worker-01: it is paused"), "{output:?}");
    output.ok();
    let archive = unpacked(Path::new(&path));
    assert_whole(
        &archive.join(WORKER),
        &["index.json", "files/var/lib/cluster-state/ledger.json", "logs/kubelet.service.log"],
    );
    assert_whole(&archive.join(MASTER), &["api/nodes.json"]);
    cluster.await_ready(&[MASTER, WORKER]);
}

fn control_plane_down(cluster: &Cluster) {
    let dir = tempfile::tempdir().unwrap();
    cluster.sh(MASTER, "systemctl stop kube-apiserver etcd");
    let archive = gather_on(cluster, MASTER, dir.path());
    cluster.sh(MASTER, "systemctl start etcd kube-apiserver");
    assert_whole(&archive, &["files/var/lib/cluster-state/ledger.json", "logs/etcd.service.log", "network/routes.txt"]);
    let why = errors(&archive);
    for item in ["api/nodes.json", "etcd/health.txt", "logs/pods"] {
        assert!(why.contains(item), "{item} in {why}");
    }
    cluster.await_ready(&[MASTER, WORKER]);
}

fn full_disk(cluster: &Cluster) {
    let small = "mkdir -p /run/small && mount -t tmpfs -o size=16k tmpfs /run/small";
    cluster.sh(WORKER, small);
    let output = cluster.try_sh(WORKER, "cd /run/small && blackstart gather");
    output.refused(1, "BS-GATHER-001");
    assert!(output.err.contains("--to"), "{output:?}");
    assert_eq!(cluster.sh(WORKER, "ls -A /run/small"), "", "nothing half-written is left");
    cluster.sh(WORKER, "cd /run/small && blackstart gather --to /root/elsewhere.tar.gz && rm /root/elsewhere.tar.gz");
    cluster.sh(WORKER, "umount /run/small");
}

fn never_started(cluster: &Cluster) {
    let dir = tempfile::tempdir().unwrap();
    let archive = gather_on(cluster, MASTER, dir.path());
    assert_whole(&archive, &["index.json", "files/etc/cluster-config/cluster.yaml", "machine/system.txt"]);
    let why = errors(&archive);
    assert!(why.contains("runs: there are none on this machine"), "{why}");
    assert_clean(&archive, &secrets::of(cluster, MASTER));
}

/// Gathers on a machine and unpacks here what it gave.
fn gather_on(cluster: &Cluster, machine: &str, dir: &Path) -> std::path::PathBuf {
    let there = format!("/root/{machine}.tar.gz");
    let output = cluster.sh(machine, &format!("blackstart gather --to {there} && stat -c %a {there}"));
    assert_eq!(output, format!("{there}\n600"));
    cluster.lab.run("cp", &[&format!("{machine}:{there}"), &dir.display().to_string()]).ok();
    cluster.sh(machine, &format!("rm {there}"));
    unpacked(&dir.join(format!("{machine}.tar.gz")))
}

/// The one directory of an archive.
fn unpacked(archive: &Path) -> std::path::PathBuf {
    let dir = archive.with_extension("d");
    fs::create_dir(&dir).unwrap();
    run("tar", &["xzf", &archive.display().to_string(), "-C", &dir.display().to_string()]).ok();
    let mut entries = fs::read_dir(&dir).unwrap();
    let only = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    only
}

fn assert_whole(archive: &Path, parts: &[&str]) {
    for part in parts {
        let path = archive.join(part);
        let size = if path.is_dir() {
            fs::read_dir(&path).unwrap().count() as u64
        } else {
            path.metadata().map_or(0, |meta| meta.len())
        };
        assert!(size > 0, "{part} of {}; left out: {}", archive.display(), errors(archive));
    }
    let index: Value =
        serde_json::from_slice(&fs::read(archive.join("index.json")).unwrap_or_default()).unwrap_or_default();
    assert!(index["items"].as_array().is_some_and(|items| !items.is_empty()));
}

fn errors(archive: &Path) -> String {
    fs::read_to_string(archive.join("errors.txt")).unwrap_or_default()
}

/// No file holds any of the secrets, in any form.
fn assert_clean(archive: &Path, secrets: &BTreeSet<String>) {
    assert_eq!(found(archive, secrets), Vec::<String>::new());
}

/// The files that hold a secret, with the beginning of its form.
fn found(archive: &Path, secrets: &BTreeSet<String>) -> Vec<String> {
    let forms: Vec<String> = secrets.iter().flat_map(|secret| secrets::forms(secret)).collect();
    let mut found = Vec::new();
    let mut dirs = vec![archive.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            let seen = forms.iter().filter(|form| text.contains(form.as_str()));
            found.extend(seen.map(|form| format!("{} holds {}…", path.display(), &form[..form.len().min(6)])));
        }
    }
    found
}
