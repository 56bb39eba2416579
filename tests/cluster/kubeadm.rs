//! A machine that is not in cluster.yaml, and stock `kubeadm join` with the line from worker-join-command.

use std::path::Path;

use crate::{
    support::{Check, Cluster, PROGRAM, eventually, run},
    unsealed,
};

pub(crate) const CHECKS: &[Check] = &[
    ("a machine with kubeadm, the runtime and a kubelet", prepare),
    ("it is refused as long as cluster.yaml does not say otherwise", refused),
    ("it joins when cluster.yaml allows it", joins),
];

const MACHINE: &str = "worker-02";
const NODE: &str = "stranger";

/// As in the package of kubeadm's publisher, and what this computer asks for: see `10-here.conf`.
const KUBELET: &str = "\
[Service]
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
ExecStart=/usr/local/bin/kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \
--kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml --config-dir=/etc/kubelet.d $KUBELET_KUBEADM_ARGS
Restart=always
RestartSec=1
";
/// Old control groups, no right to lower scores, a disk that is not the machine's own.
const HERE: &str = "\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
evictionHard: { memory.available: 100Mi }
";
const NETWORK: &str = r#"{ "cniVersion": "1.0.0", "name": "pods", "plugins": [
  { "type": "ptp", "ipam": { "type": "host-local", "subnet": "10.250.0.0/24" } } ] }"#;

fn prepare(cluster: &Cluster) {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    run(PROGRAM, &["bundle", "build", &path("bundle"), "--with", "kubeadm"]).ok();
    cluster.lab.run("cp", &[&path("bundle/bin/kubeadm"), &format!("{MACHINE}:/usr/local/bin")]).ok();
    for (from, to) in [("/etc/containerd", "/etc"), ("/etc/systemd/system/containerd.service", "/etc/systemd/system")] {
        cluster.lab.run("cp", &[&format!("worker-01:{from}"), &path("")]).ok();
        let name = Path::new(from).file_name().unwrap().to_string_lossy();
        cluster.lab.run("cp", &[&path(&name), &format!("{MACHINE}:{to}")]).ok();
    }
    for (file, text) in [
        ("/etc/systemd/system/kubelet.service", KUBELET),
        ("/etc/kubelet.d/10-here.conf", HERE),
        ("/etc/cni/net.d/10-pods.conflist", NETWORK),
    ] {
        let line = format!("mkdir -p $(dirname {file}) && cat > {file}");
        cluster.lab.feed("exec", &[MACHINE, "--", "sh", "-c", &line], text.as_bytes()).ok();
    }
    cluster.sh(MACHINE, "systemctl daemon-reload && systemctl start containerd && sysctl -qw net.ipv4.ip_forward=1");
    cluster.sh(MACHINE, "kubeadm version -o short");
}

/// It gets no further than its first question. (Who asks another way is denied too: see `hostile.rs`.)
fn refused(cluster: &Cluster) {
    let before = cluster.get(&["csr"]).len();
    start_joining(cluster);
    eventually("kubeadm is refused", || cluster.journal(MACHINE, "joining").contains("Unauthorized"));
    cluster.sh(MACHINE, "systemctl stop joining");
    assert_eq!(cluster.kubectl(&["get", "nodes", NODE, "--ignore-not-found"]), "");
    assert_eq!(cluster.get(&["csr"]).len(), before);
    assert_eq!(cluster.try_sh(MACHINE, "ls /etc/kubernetes/*.conf 2>/dev/null").out, "");
}

fn joins(cluster: &Cluster) {
    let dir = unsealed::configuration(cluster, "    unlisted_nodes: allow\n");
    cluster.install(&dir.path().join("plain"), "master-01");
    let question = format!(
        "curl -sSk -m 5 -o /dev/null -w '%{{http_code}}' https://{}:6443/api/v1/namespaces/kube-public/configmaps/cluster-info",
        cluster.ip("master-01")
    );
    eventually("the master has taken it up", || cluster.try_sh(MACHINE, &question).out == "200");
    start_joining(cluster);
    let ready = [
        "get",
        "nodes",
        NODE,
        "--ignore-not-found",
        "-o",
        "jsonpath={.status.conditions[?(@.type==\"Ready\")].status}",
    ];
    eventually("the node is Ready", || cluster.try_kubectl(&ready).out == "True");
    eventually("kubeadm has reported it", || {
        cluster.journal(MACHINE, "joining").contains("This node has joined the cluster")
    });
    let roles = cluster.kubectl(&["get", "nodes", NODE, "-o", "jsonpath={.metadata.labels}"]);
    assert!(!roles.contains("control-plane"), "{roles}");
}

/// The last line of the file, as a person would copy it.
fn start_joining(cluster: &Cluster) {
    let line = cluster.sh("master-01", "tail -n 1 /var/lib/cluster-state/worker-join-command");
    assert!(line.starts_with("kubeadm join "), "{line}");
    // The checks look for what a lab machine shares with its computer; the name is one that is not in use.
    let unit = "systemd-run --quiet --collect --unit=joining --setenv=PATH=$PATH";
    cluster.sh(MACHINE, &format!("{unit} {line} --node-name {NODE} --ignore-preflight-errors=all --v=5"));
}
