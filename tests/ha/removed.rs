//! Nodes that are taken out of the cluster from a master, dead and alive, and come back.
//!
//! Every check leaves the cluster whole.

use serde_json::Value;

use crate::{
    MASTERS, NODES, WORKER, await_whole, members, ready_at,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("no node is removed from itself, from a worker or by a wrong name", refused),
    ("a budget that holds a pod back is named, and the node goes on", held_back),
    ("a removal that is killed is gone on with by another master", killed),
    ("the pods of a master that is dead go by force only, and no other one may follow it", dead),
    ("a master that is alive is removed, reset and joins again", alive),
];

const LEAVER: &str = "master-03";
const IMAGE: &str = "$(ctr -n k8s.io images ls -q | grep pause)";

/// Two pods that would rather be on a node, and a budget that lets go of all but so many of them.
fn pods_on(cluster: &Cluster, node: &str, kept: u8) {
    let manifest = format!(
        r"cat <<END | kubectl apply -f -
apiVersion: apps/v1
kind: Deployment
metadata: {{ name: removed }}
spec:
  replicas: 2
  selector: {{ matchLabels: {{ app: removed }} }}
  template:
    metadata: {{ labels: {{ app: removed }} }}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations: [{{ key: node-role.kubernetes.io/control-plane, operator: Exists }}]
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 100
            preference: {{ matchExpressions: [{{ key: kubernetes.io/hostname, operator: In, values: [{node}] }}] }}
      containers: [{{ name: pause, image: {IMAGE} }}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{ name: removed }}
spec: {{ minAvailable: {kept}, selector: {{ matchLabels: {{ app: removed }} }} }}
END"
    );
    cluster.sh(MASTERS[0], &manifest);
    eventually(&format!("two pods run on {node}"), || running_on(cluster) == [node, node]);
}

/// On which nodes the pods run that are not about to end.
fn running_on(cluster: &Cluster) -> Vec<String> {
    let list = cluster.try_sh(MASTERS[0], "kubectl get pods -l app=removed -o json").out;
    let list: Value = serde_json::from_str(&list).unwrap_or_default();
    let runs = |pod: &&Value| pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null();
    let pods = list["items"].as_array().into_iter().flatten().filter(runs);
    pods.map(|pod| pod["spec"]["nodeName"].as_str().unwrap_or_default().to_owned()).collect()
}

fn forget_pods(cluster: &Cluster) {
    cluster.sh(MASTERS[0], "kubectl delete deployment/removed pdb/removed --ignore-not-found");
}

/// What the API knows of a node by its name: the Node, its lease, join tokens bound to it.
fn traces(cluster: &Cluster, node: &str) -> String {
    cluster.sh(
        MASTERS[0],
        &format!(
            "kubectl get node,lease -A -o name | grep '/{node}$' || true; blackstart token list | grep ' {node} ' || true"
        ),
    )
}

/// The machine of a node that was removed becomes a node again.
fn comes_back(cluster: &Cluster, machine: &str) {
    cluster.sh(machine, "blackstart node reset --yes");
    let output = cluster.node_up(machine, "").ok();
    assert!(output.contains("is a Ready node"), "{output}");
    await_whole(cluster, &NODES);
}

fn refused(cluster: &Cluster) {
    let on = |machine: &str, arguments: &str| cluster.try_sh(machine, &format!("blackstart node remove {arguments}"));
    on(MASTERS[0], "master-01 --yes").refused(1, "BS-REMOVE-001");
    on(MASTERS[0], "worker-1 --yes").refused(1, "BS-IDENT-003");
    on(MASTERS[0], "worker-01 < /dev/null").refused(2, "BS-CLI-002");
    on(WORKER, "master-02 --yes").refused(2, "BS-CLI-041");
    assert_eq!(ready_at(cluster, MASTERS[0]), NODES);
    let schedulable = cluster.sh(MASTERS[0], "kubectl get nodes -o jsonpath='{.items[*].spec.unschedulable}'");
    assert_eq!(schedulable, "", "nothing was changed");
}

fn held_back(cluster: &Cluster) {
    pods_on(cluster, WORKER, 2);
    let output = cluster.try_sh(MASTERS[0], "blackstart node remove worker-01 --yes --drain-timeout 5s");
    output.refused(1, "BS-REMOVE-002");
    assert!(output.err.contains("The disruption budget removed needs 2 healthy pods"), "{output:?}");
    assert_eq!(running_on(cluster), [WORKER, WORKER]);
    assert!(ready_at(cluster, MASTERS[0]).contains(&WORKER.to_owned()));
    cluster.sh(MASTERS[0], "kubectl uncordon worker-01");
    forget_pods(cluster);
}

fn killed(cluster: &Cluster) {
    pods_on(cluster, WORKER, 2);
    cluster.sh(MASTERS[0], "blackstart token create --node worker-01");
    // The budget holds it in the drain.
    let cut = "blackstart node remove worker-01 --yes -o json > /tmp/removed & \
               until grep -q 'held back' /tmp/removed; do sleep 0.1; done; kill -9 $!";
    cluster.sh(MASTERS[0], cut);
    cluster.sh(MASTERS[0], "kubectl patch pdb removed -p '{\"spec\":{\"minAvailable\":1}}'");
    let output = cluster.sh(MASTERS[1], "blackstart node remove worker-01 --yes");
    assert!(output.contains("worker-01 is out of") && output.contains("blackstart node reset"), "{output}");
    assert_eq!(traces(cluster, WORKER), "");
    eventually("its pods run elsewhere", || {
        let nodes = running_on(cluster);
        nodes.len() == 2 && !nodes.contains(&WORKER.to_owned())
    });
    let again = cluster.sh(MASTERS[1], "blackstart node remove worker-01 --yes");
    assert!(again.contains("nothing of worker-01 is in"), "{again}");
    assert_eq!(cluster.sh(MASTERS[1], "ls /var/lib/cluster-state | grep -c removals || true"), "0");
    forget_pods(cluster);
    comes_back(cluster, WORKER);
}

fn dead(cluster: &Cluster) {
    pods_on(cluster, LEAVER, 1);
    cluster.lab.run("kill", &[LEAVER]).ok();
    eventually("Kubernetes misses it", || {
        cluster.try_sh(MASTERS[0], &format!("kubectl get node {LEAVER}")).out.contains("NotReady")
    });
    cluster.try_sh(MASTERS[0], &format!("blackstart node remove {LEAVER} --yes")).refused(1, "BS-REMOVE-003");
    let second = cluster.try_sh(MASTERS[0], "blackstart node remove master-02 --yes --force");
    second.refused(1, "BS-ETCD-004");
    assert!(second.err.contains("1 of 2 voters healthy, 2 needed"), "{second:?}");
    assert_eq!(members(cluster, MASTERS[0]).len(), 3, "nothing was changed");

    cluster.sh(MASTERS[0], &format!("blackstart node remove {LEAVER} --yes --force"));
    assert_eq!(members(cluster, MASTERS[0]), [("master-01".to_owned(), true), ("master-02".to_owned(), true)]);
    assert_eq!(traces(cluster, LEAVER), "");
    eventually("its pods run elsewhere", || {
        let nodes = running_on(cluster);
        nodes.len() == 2 && !nodes.contains(&LEAVER.to_owned())
    });
    forget_pods(cluster);
    cluster.lab.run("wipe", &["--yes", LEAVER]).ok();
    cluster.lab.run("up", &crate::UP).ok();
    await_whole(cluster, &NODES);
}

fn alive(cluster: &Cluster) {
    let output = cluster.sh(MASTERS[0], &format!("blackstart node remove {LEAVER} --yes"));
    assert!(output.contains("the cluster's keys: they are on its disk"), "{output}");
    assert_eq!(members(cluster, MASTERS[0]).len(), 2);
    assert_eq!(traces(cluster, LEAVER), "");
    comes_back(cluster, LEAVER);
}
