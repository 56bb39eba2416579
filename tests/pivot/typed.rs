//! What people type on a bootstrap node, as docs/guide/pivot.md has it.

use std::fs;

use crate::{
    BOOTSTRAP, WORKER, ignition,
    support::{Cluster, TestLab, eventually, run},
};

/// The API's own name, which its certificate has because cluster.yaml says so.
const API: &str = "api.pivot.test";
/// Of the bundle, for this computer.
const KUBECTL: &str = "/var/cache/blackstart/bundle/bin/kubectl";
/// As `crictl pods` has them.
const PODS: [&str; 4] =
    ["etcd-bootstrap", "kube-apiserver-bootstrap", "kube-controller-manager-bootstrap", "kube-scheduler-bootstrap"];

/// Of `bootkube.service`, in their order.
const MESSAGES: [&str; 11] = [
    "Starting bootkube.sh...",
    "Rendering etcd manifests...",
    "Rendering kube-apiserver manifests...",
    "Starting cluster-bootstrap...",
    "Waiting for API server to come up...",
    "API server is up",
    "Applying cluster manifests...",
    "Waiting for bootstrap to complete...",
    "etcd cluster is healthy: every master has a vote",
    "the control plane is on the masters",
    "bootkube.service complete",
];

/// Gives the API its name, before anything is sealed.
pub(crate) fn name_the_api(lab: &TestLab) {
    let path = lab.dir().join("config/cluster.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("cluster:\n", &format!("cluster:\n  api:\n    extra_sans: [{API}]\n"), 1)).unwrap();
}

/// While it holds the cluster.
pub(crate) fn holds(cluster: &Cluster) {
    let sh = |line: &str| cluster.sh(BOOTSTRAP, line);
    eventually("four static pods are ready", || sh("crictl pods --state ready -q | wc -l") == "4");
    let names = sh("crictl pods -o json | grep -o '\"io.kubernetes.pod.name\": *\"[^\"]*' | cut -d'\"' -f4 | sort -u");
    assert_eq!(names.lines().collect::<Vec<_>>(), PODS);
    let log = sh("crictl logs $(crictl ps -q --name etcd) 2>&1");
    assert!(log.contains("ready to serve client requests"), "{log}");
    for health in ["etcdctl endpoint health", "etcdctl endpoint health --cluster"] {
        let output = sh(&format!("crictl exec $(crictl ps -q --name etcd) {health} 2>&1"));
        assert!(output.contains("is healthy") && !output.contains("unhealthy"), "{output}");
    }
    let health = "curl -s --cacert /etc/kubernetes/pki/ca.crt https://localhost:6443/healthz";
    assert_eq!(sh(health), "ok");
    let local = "kubectl --kubeconfig=/etc/kubernetes/kubeconfigs/localhost.kubeconfig get";
    let namespaces = sh(&format!("{local} ns -o name"));
    assert!(namespaces.contains("namespace/openshift-cluster-version"), "{namespaces}");
    assert_eq!(sh(&format!("{local} nodes -o name")), format!("node/{BOOTSTRAP}\nnode/{WORKER}"));
    // A kubelet may write the mirrors of pods that ran before there was an API only when it looks at them again.
    eventually("the static pods are in the API", || {
        let pods = sh(&format!("{local} pods -A -o name"));
        PODS.iter().all(|name| pods.lines().any(|line| line == format!("pod/{name}")))
    });
    from_a_workstation(cluster);
    let mut last = String::new();
    eventually("the checklist is met", || {
        let output = cluster.try_sh(BOOTSTRAP, "blackstart bootstrap status --checklist");
        if output.out != last {
            last.clone_from(&output.out);
            eprintln!("{last}");
        }
        output.code == Some(0)
    });
}

/// By its own name, with the CA; and with the kubeconfig that `ignition render` wrote.
fn from_a_workstation(cluster: &Cluster) {
    let ca = cluster.sealed_dir(BOOTSTRAP).join("ca.crt").display().to_string();
    let to = format!("{API}:6443:{}", cluster.ip(BOOTSTRAP));
    let url = format!("https://{API}:6443/healthz");
    assert_eq!(run("curl", &["-sS", "-m", "20", "--cacert", &ca, "--resolve", &to, &url]).ok(), "ok");
    let kubeconfig = ignition::render(cluster, BOOTSTRAP).join("kubeconfigs/admin.kubeconfig").display().to_string();
    let get = |what: &[&str]| run(KUBECTL, &[&["--kubeconfig", &kubeconfig, "get", "-o", "name"], what].concat()).ok();
    assert_eq!(get(&["nodes"]), format!("node/{BOOTSTRAP}\nnode/{WORKER}\n"));
    assert!(get(&["pods", "-A"]).contains("pod/kube-scheduler-bootstrap"), "{}", get(&["pods", "-A"]));
}

/// On a machine that Ignition has set up: people log in as `core`, by their key.
pub(crate) fn core_has_its_key(cluster: &Cluster, machine: &str) {
    let line = "id -un core; stat -c '%a %U' /home/core/.ssh /home/core/.ssh/authorized_keys
                grep -v '^#' /home/core/.ssh/authorized_keys | grep .";
    let key = ignition::KEY;
    assert_eq!(cluster.sh(machine, line), format!("core\n700 core\n600 core\n{key}"), "{machine}");
}

/// When the masters have taken over.
pub(crate) fn is_complete(cluster: &Cluster) {
    let journal = cluster.journal(BOOTSTRAP, "bootkube");
    let mut left = journal.as_str();
    for message in MESSAGES {
        let at = left.find(message).unwrap_or_else(|| panic!("{message}, behind the ones before, in:\n{journal}"));
        left = &left[at + message.len()..];
    }
    let status = cluster.sh(BOOTSTRAP, "blackstart bootstrap status");
    assert_eq!(status.matches("[x]").count(), 13, "{status}");
    let timeline = cluster.sh(BOOTSTRAP, "blackstart node timeline");
    assert!(timeline.contains("Control plane pivots to masters"), "{timeline}");
    let watched = cluster.sh(crate::MASTERS[0], "blackstart watch --once");
    assert!(watched.contains("bootstrap complete"), "{watched}");
}
