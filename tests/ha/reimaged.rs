//! A master that lost its disk comes back into the cluster that is there, and never starts another one.

use crate::{
    ETCDCTL, MASTERS, NODES, await_whole, message,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("the first master with an empty disk joins the cluster when its name is armed, and not before", joins),
    ("it waits, and says why, while the others have no majority without it", waits),
];

const KEEP: &str =
    "kubectl create configmap kept --from-literal=since=before --dry-run=client -o yaml | kubectl apply -f -";

fn cluster_id(cluster: &Cluster, master: &str) -> String {
    cluster.sh(master, &format!("{ETCDCTL} endpoint status -w json | grep -o '\"cluster_id\":[0-9]*'"))
}

fn member_of(cluster: &Cluster, master: &str) -> String {
    cluster.sh(MASTERS[1], &format!("{ETCDCTL} member list | grep ', {master},' | cut -d, -f1"))
}

fn joins(cluster: &Cluster) {
    cluster.sh(MASTERS[1], KEEP);
    let (id, member) = (cluster_id(cluster, MASTERS[1]), member_of(cluster, MASTERS[0]));
    cluster.lab.run("wipe", &["--yes", MASTERS[0]]).ok();
    // It would wait for all of them to be Ready.
    let mut up = cluster.lab.command("up").args(crate::UP).spawn().unwrap();
    eventually("the cluster's keys are not for it", || {
        MASTERS[1..].iter().any(|master| cluster.journal(master, "blackstart-agent").contains("BS-JOIN-061"))
    });
    assert_eq!(cluster.sh(MASTERS[0], "ls /etc/kubernetes/pki/*.key 2>/dev/null || true"), "", "it got nothing");
    let output = cluster.sh(MASTERS[1], "blackstart node rearm master-01");
    assert!(output.contains("they went to machine "), "{output}");
    assert!(up.wait().unwrap().success());
    await_whole(cluster, &NODES);
    assert_eq!(cluster_id(cluster, MASTERS[0]), id, "it is the same cluster");
    assert_ne!(member_of(cluster, MASTERS[0]), member, "and another member: the old one had lost what it voted for");
    assert_eq!(cluster.sh(MASTERS[0], "kubectl get configmap kept -o jsonpath={.data.since}"), "before");
    assert_eq!(cluster.sh(MASTERS[0], "cat /var/lib/cluster-state/etcd-member-id"), member_of(cluster, MASTERS[0]));
}

fn waits(cluster: &Cluster) {
    let id = cluster_id(cluster, MASTERS[1]);
    cluster.sh(MASTERS[1], "blackstart node rearm master-01");
    // Without a majority there is no API to ask: the other master must have heard of it.
    let file = "/var/lib/cluster-state/admissions.json";
    let armed = format!("sed -n '/\"{}\"/,/}}/p' {file} | grep -q '\"given\": null'", MASTERS[0]);
    eventually("it is known on the other master", || cluster.try_sh(MASTERS[2], &armed).code == Some(0));
    cluster.lab.run("cut", &[MASTERS[1]]).ok();
    cluster.lab.run("wipe", &["--yes", MASTERS[0]]).ok();
    // It would wait for all of them to be Ready.
    let mut up = cluster.lab.command("up").args(crate::UP).spawn().unwrap();
    let wanted = "a majority of etcd's members to answer";
    eventually("it says what it waits for", || message(cluster, MASTERS[0]).contains(wanted));
    assert_eq!(cluster.sh(MASTERS[0], "ls /var/lib/etcd 2>/dev/null || true"), "", "nothing was started");
    cluster.lab.run("heal", &[]).ok();
    assert!(up.wait().unwrap().success());
    await_whole(cluster, &NODES);
    assert_eq!(cluster_id(cluster, MASTERS[0]), id);
}
