//! What is true when the masters have taken over.

use serde_json::Value;

use crate::{
    BOOTSTRAP, MASTERS, NODES, install, is_on,
    support::{Check, Cluster, eventually, text},
};

/// How many there are.
pub(crate) const OPERATORS: usize = 7;

pub(crate) const CHECKS: &[Check] = &[
    ("the bootstrap is complete, and the masters do all of its work", the_masters_do_it),
    ("ClusterOperators are available, and a master that is off degrades them", operators_follow),
    ("no trace of the bootstrap node is left on a master", no_trace),
    ("the bootstrap node has no key, starts nothing, and can run again", it_is_retired),
    ("a second bootstrap node is refused", a_second_one_is_refused),
];

/// What is true however many masters there are.
pub(crate) const OF_ANY_NUMBER: &[Check] = &[
    ("the bootstrap is complete, and the masters do all of its work", the_masters_do_it),
    ("no trace of the bootstrap node is left on a master", no_trace),
    ("the bootstrap node has no key, starts nothing, and can run again", it_is_retired),
];

/// A bootstrap node with an empty disk, which cannot know that there is a cluster.
pub(crate) const SECOND_CLUSTER: &[Check] =
    &[("a bootstrap node that does not see the masters' cluster takes nothing from it", takes_nothing)];

/// Before anything is done to the cluster.
pub(crate) const NOTHING_IS_WRONG: &[Check] = &[("`diagnose` finds nothing wrong on any machine", nothing_is_wrong)];

fn nothing_is_wrong(cluster: &Cluster) {
    for machine in [BOOTSTRAP].into_iter().chain(NODES) {
        let mut last = String::new();
        eventually(&format!("{machine} is well"), || {
            let output = cluster.try_sh(machine, "blackstart diagnose");
            let is_well = output.code == Some(0);
            if last != output.out {
                last = output.out;
                eprintln!("  {machine}: {}", last.trim());
            }
            is_well
        });
    }
}

/// All machines but the bootstrap node, as the lab has them.
pub(crate) fn nodes(cluster: &Cluster) -> Vec<String> {
    let status = cluster.lab.status();
    let machines = status["machines"].as_array().unwrap().iter().map(|machine| text(&machine["name"]));
    machines.filter(|name| name != BOOTSTRAP).collect()
}

pub(crate) fn masters(cluster: &Cluster) -> Vec<String> {
    nodes(cluster).into_iter().filter(|name| name.starts_with("master")).collect()
}

pub(crate) fn await_nodes(cluster: &Cluster) {
    let nodes = nodes(cluster);
    cluster.await_ready(&nodes.iter().map(String::as_str).collect::<Vec<_>>());
}

fn the_masters_do_it(cluster: &Cluster) {
    await_nodes(cluster);
    let masters = masters(cluster);
    let status = "jsonpath={.data.status}";
    assert_eq!(cluster.kubectl(&["-n", "kube-system", "get", "configmap", "bootstrap", "-o", status]), "complete");
    let list = cluster.sh(MASTERS[0], "blackstart etcd status -o json");
    let list: Value = serde_json::from_str(&list).unwrap();
    let members: Vec<String> = list["members"].as_array().unwrap().iter().map(|row| text(&row["name"])).collect();
    assert_eq!((members, list["healthy"].as_u64()), (masters.clone(), Some(masters.len() as u64)));
    for lease in ["kube-controller-manager", "kube-scheduler"] {
        let holder =
            cluster.kubectl(&["-n", "kube-system", "get", "lease", lease, "-o", "jsonpath={.spec.holderIdentity}"]);
        assert!(masters.iter().any(|master| holder.starts_with(master)), "{lease}: {holder}");
    }
    let addresses = "jsonpath={.endpoints[*].addresses[*]}";
    let addresses = cluster.kubectl(&["get", "endpointslice", "kubernetes", "-o", addresses]);
    let mut addresses: Vec<&str> = addresses.split_whitespace().collect();
    addresses.sort_unstable();
    assert_eq!(addresses, masters.iter().map(|master| cluster.ip(master)).collect::<Vec<_>>());
    assert_eq!(
        cluster.kubectl(&["get", "pods", "-A", "--field-selector", "spec.nodeName=bootstrap", "-o", "name"]),
        ""
    );
}

/// The names of the operators with this status of a condition.
fn operators(cluster: &Cluster, condition: &str, is: &str) -> Vec<String> {
    let status = format!(r#"{{.status.conditions[?(@.type=="{condition}")].status}}"#);
    let path = format!("jsonpath={{range .items[*]}}{{.metadata.name}}={status} {{end}}");
    // Without an answer, as while etcd chooses another leader, none is known.
    let all = cluster.try_kubectl(&["get", "co", "-o", &path]).out;
    let suffix = format!("={is}");
    all.split_whitespace().filter_map(|one| one.strip_suffix(&suffix)).map(str::to_owned).collect()
}

fn operators_follow(cluster: &Cluster) {
    let all = |condition, is| operators(cluster, condition, is).len() == OPERATORS;
    let fine = || all("Available", "True") && all("Degraded", "False");
    eventually("all operators are available", fine);
    let version = "oc get clusterversion version -o jsonpath='{.status.history[0].state}'";
    eventually("the version is complete, too", || cluster.sh(MASTERS[0], version) == "Completed");
    let pods = ["-n", "openshift-cluster-version", "-l", "k8s-app=cluster-version-operator"];
    cluster.kubectl(&[&["delete", "pod"], &pods[..]].concat());
    let path = r#"jsonpath={.items[?(@.status.phase=="Running")].spec.nodeName}"#;
    let running = || cluster.kubectl(&[&["get", "pods", "-o", path], &pods[..]].concat());
    eventually("another pod runs", || !running().is_empty());
    // Its own master would do as well, a minute later: so long does Kubernetes wait for a node.
    let here = running();
    let off = MASTERS.iter().rfind(|master| **master != here).unwrap();
    cluster.lab.run("kill", &[off]).ok();
    eventually("a master that is off degrades what it does", || {
        let degraded = operators(cluster, "Degraded", "True");
        ["etcd", "kube-apiserver"].iter().all(|name| degraded.iter().any(|one| one == name))
    });
    cluster.lab.run("up", &["--machines-only"]).ok();
    eventually("all operators are available again", fine);
}

/// Apart from cluster.yaml itself, which is the operator's.
fn no_trace(cluster: &Cluster) {
    let ip = cluster.ip(BOOTSTRAP);
    for master in &masters(cluster) {
        let files = "/etc/kubernetes /etc/systemd /etc/hosts /var/lib/kubelet/config.yaml /root/.kube /var/lib/etcd/initial.env";
        let found = cluster.sh(master, &format!("grep -rlwF '{ip}' {files} 2>/dev/null || true"));
        assert_eq!(found, "", "{master}");
    }
}

fn it_is_retired(cluster: &Cluster) {
    if !is_on(cluster, BOOTSTRAP) {
        // One that died for good comes back, and finds out that it was removed.
        cluster.lab.run("up", &["--machines-only"]).ok();
    }
    eventually("it has retired", || cluster.is_up(BOOTSTRAP));
    let keys = "ls -d /etc/kubernetes /var/lib/etcd /var/lib/kubelet/pki /etc/cluster-config/pki /etc/cluster-config/join* \
                /etc/cluster-config/encryption.key 2>/dev/null || true";
    let units = "systemctl is-active kubelet containerd blackstart-agent || true";
    assert_eq!(cluster.sh(BOOTSTRAP, keys), "");
    assert_eq!(cluster.sh(BOOTSTRAP, units), "inactive\ninactive\ninactive");
    let status = cluster.sh(BOOTSTRAP, "blackstart node status");
    assert!(status.contains("is retired: the masters have taken over"), "{status}");
    cluster.lab.run("kill", &[BOOTSTRAP]).ok();
    cluster.lab.run("up", &["--machines-only"]).ok();
    eventually("it has booted, and started nothing", || {
        let booted = cluster.try_sh(BOOTSTRAP, "systemctl is-system-running --wait").out;
        ["running", "degraded"].contains(&booted.trim())
            && cluster.sh(BOOTSTRAP, units) == "inactive\ninactive\ninactive"
    });
    cluster.node_up(BOOTSTRAP, "").ok();
    assert_eq!(cluster.sh(BOOTSTRAP, keys), "", "after another run");
    await_nodes(cluster);
}

fn a_second_one_is_refused(cluster: &Cluster) {
    cluster.lab.run("wipe", &["--yes", BOOTSTRAP]).ok();
    cluster.lab.run("up", &["--machines-only"]).ok();
    install(cluster, BOOTSTRAP);
    eventually("it is refused", || {
        cluster.last_up(BOOTSTRAP).is_some_and(|run| run.message().contains("is part of a cluster already"))
    });
    assert_eq!(cluster.sh(BOOTSTRAP, "ls /var/lib/etcd /etc/kubernetes/manifests 2>/dev/null || true"), "");
    cluster.await_ready(&NODES);
}

fn takes_nothing(cluster: &Cluster) {
    cluster.kubectl(&["create", "configmap", "theirs"]);
    cluster.lab.run("wipe", &["--yes", BOOTSTRAP]).ok();
    cluster.lab.run("up", &["--machines-only"]).ok();
    cluster.lab.run("cut", &[&[BOOTSTRAP], &MASTERS[..]].concat()).ok();
    cluster.install(&cluster.sealed_dir(BOOTSTRAP), BOOTSTRAP);
    let own =
        "kubectl --kubeconfig /etc/kubernetes/kubeconfigs/localhost.kubeconfig --request-timeout 5s get --raw /readyz";
    eventually("it has begun a cluster of its own", || cluster.try_sh(BOOTSTRAP, own).out.trim() == "ok");
    cluster.lab.run("heal", &[]).ok();
    eventually("it reports that the masters have a cluster", || {
        cluster.last_up(BOOTSTRAP).is_some_and(|run| run.message().contains("this is a second cluster"))
    });
    // As the hint of the code says.
    cluster.lab.run("kill", &[BOOTSTRAP]).ok();
    await_nodes(cluster);
    cluster.kubectl(&["get", "configmap", "theirs"]);
    the_masters_do_it(cluster);
    // So that it does not come back with the cluster that it began.
    cluster.lab.run("wipe", &["--yes", BOOTSTRAP]).ok();
}
