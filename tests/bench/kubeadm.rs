//! The same cluster by `kubeadm init` and `kubeadm join`.
//!
//! As it comes, apart from what this computer asks for (see [`config`]). Add-ons are left out: they are not needed for a
//! node to be Ready, and we do ours after that.

use std::time::{Duration, Instant};

use crate::{
    Times,
    kit::{Kit, REGISTRY, tag},
    machines::{MASTER, Machines, WORKER},
    outside::{api_ready, from_outside, node_ready, nodes_ready},
    running::Running,
    starting_point::{self, wait_until_quiet},
};

const CONFIG: &str = "/root/kubeadm.yaml";
const INIT: [&str; 6] = ["kubeadm", "init", "--config", CONFIG, "--skip-phases=addon", "--ignore-preflight-errors=all"];

/// The unit and its drop-in as in the package of kubeadm's publisher, with the directory where the bundle is.
const UNIT: &str = "\
[Unit]
Description=kubelet: The Kubernetes Node Agent
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/local/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
";
const DROP_IN: &str = r#"
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/local/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"#;

/// In place before kubeadm starts: to it a network is another tool's work.
const NETWORK: &str = r#"{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [
    { "type": "ptp", "ipMasq": true, "ipam": { "type": "host-local", "subnet": "10.90.255.0/24" } }
  ]
}
"#;

pub(crate) fn round(kit: &Kit) -> Times {
    let machines = starting_point::machines(1, 1);
    kit.install(&machines);
    install(&machines);
    wait_until_quiet();
    let address = machines.address(MASTER);

    let mut init = machines.start(MASTER, &INIT);
    let api = api_ready(address, &mut init);
    let kubeconfig = from_outside(&machines.read(MASTER, "/etc/kubernetes/super-admin.conf"), address);
    let master = node_ready(&kubeconfig, MASTER, &mut init);
    init.finish();

    let line = machines.sh(MASTER, "kubeadm token create --print-join-command");
    let join: Vec<&str> = line.split_whitespace().chain(["--ignore-preflight-errors=all"]).collect();
    wait_until_quiet();
    let mut join = machines.start(WORKER, &join);
    let worker = node_ready(&kubeconfig, WORKER, &mut join);
    join.finish();
    Times { api, master, worker }
}

/// Three masters and workers in kubeadm's own way: init, then each further master when the one before is done, then all
/// workers at the same moment; until the last of them is a Ready node.
pub(crate) fn all(kit: &Kit, masters: u8, workers: u8) -> Duration {
    let machines = starting_point::machines(masters, workers);
    kit.install(&machines);
    install(&machines);
    wait_until_quiet();
    let address = machines.address(MASTER);
    let began = Instant::now();
    let mut init = machines.start(MASTER, &[INIT.as_slice(), &["--upload-certs"]].concat());
    api_ready(address, &mut init);
    let kubeconfig = from_outside(&machines.read(MASTER, "/etc/kubernetes/super-admin.conf"), address);
    let printed = init.finish();
    // Printed as a person copies it, broken into lines.
    let printed = printed.replace("\\\n", " ");
    let line = |wanted: bool| {
        let mut lines = printed.lines().filter(|line| line.trim_start().starts_with("kubeadm join"));
        lines.find(|line| line.contains("--control-plane") == wanted).expect("init prints how to join").to_owned()
    };
    let (as_master, as_worker) = (line(true), line(false));
    let join = |machine: &str, line: &str| {
        let name = format!("--node-name={machine}");
        let own = format!("--apiserver-advertise-address={}", machines.address(machine));
        let more =
            if line.contains("--control-plane") { vec![name.as_str(), own.as_str()] } else { vec![name.as_str()] };
        let words: Vec<&str> = line.split_whitespace().chain(["--ignore-preflight-errors=all"]).chain(more).collect();
        machines.start(machine, &words)
    };
    for master in &machines.masters()[1..] {
        join(master, &as_master).finish();
    }
    let mut running: Vec<Running> = machines.workers().iter().map(|worker| join(worker, &as_worker)).collect();
    nodes_ready(&kubeconfig, &machines.names(), &mut running[0]);
    let taken = began.elapsed();
    for one in running {
        one.finish();
    }
    taken
}

fn install(machines: &Machines) {
    for machine in machines.names() {
        machines.write(machine, "/etc/systemd/system/kubelet.service", UNIT);
        machines.write(machine, "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf", DROP_IN);
        machines.write(machine, "/etc/cni/net.d/10-pods.conflist", NETWORK);
        machines.sh(machine, "systemctl daemon-reload; systemctl --quiet enable kubelet");
    }
    machines.write(MASTER, CONFIG, &config(machines));
    assert_nothing_to_pull(machines);
}

/// An image that is missing would be looked for in a registry that does not exist, and kubeadm be measured by that.
fn assert_nothing_to_pull(machines: &Machines) {
    let there = machines.sh(MASTER, "ctr --namespace k8s.io images list --quiet");
    let wanted = machines.sh(MASTER, &format!("kubeadm config images list --config {CONFIG}"));
    for image in wanted.lines() {
        assert!(there.lines().any(|name| name == image), "{image} is not among the imported images:\n{there}");
    }
}

/// The kubelet's settings are those of a computer with old control groups, where no process may lower an out-of-memory score
/// and the disk is not the machine's own; ours gets the same.
fn config(machines: &Machines) -> String {
    let (address, kubernetes, etcd, dns) =
        (machines.address(MASTER), tag("kube-apiserver"), tag("etcd"), tag("coredns"));
    format!(
        "\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {{ advertiseAddress: {address} }}
nodeRegistration: {{ name: {MASTER}, criSocket: \"unix:///run/containerd/containerd.sock\", imagePullPolicy: IfNotPresent }}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: {kubernetes}
controlPlaneEndpoint: {address}:6443
imageRepository: {REGISTRY}
networking: {{ podSubnet: 10.90.0.0/16, serviceSubnet: 10.87.0.0/16 }}
etcd: {{ local: {{ dataDir: /var/lib/etcd, imageTag: \"{etcd}\" }} }}
dns: {{ imageTag: \"{dns}\" }}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failCgroupV1: false
failSwapOn: false
oomScoreAdj: 0
evictionHard: {{ memory.available: 100Mi, nodefs.available: 500Mi, nodefs.inodesFree: 1%, imagefs.available: 500Mi }}
imageGCHighThresholdPercent: 100
"
    )
}
