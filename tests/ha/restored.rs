//! The disks of all masters are lost, and the cluster comes back from a backup, as docs/guide/backup.md says.

use crate::{
    MASTERS, NODES, WORKER, await_whole, lose_disks, members, ready_at,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[("all masters are lost, and the cluster comes back from a backup", comes_back)];

/// Any master will do, so it is not the first one, and not the one that made the backup.
const RESTORED: &str = MASTERS[1];
const OTHERS: [&str; 2] = [MASTERS[0], MASTERS[2]];

/// Only the machine that starts a cluster has it in its sealed directory.
const KEY: &str = "$(ls /etc/cluster-config/join.key /etc/kubernetes/pki/join.key 2>/dev/null | head -n 1)";

fn comes_back(cluster: &Cluster) {
    let dir = tempfile::tempdir().unwrap();
    let backup = dir.path().join("backup.age").display().to_string();
    // Of the machine that was to start the cluster.
    let sealed = ["bootstrap", MASTERS[0]].map(|name| cluster.sealed_dir(name).join("join.key"));
    let key = sealed.iter().find(|path| path.exists()).unwrap().display().to_string();
    create_objects(cluster);
    cluster.sh(MASTERS[0], &format!("blackstart backup create /root/backup.age --key-file {KEY}"));
    cluster.lab.run("cp", &[&format!("{}:/root/backup.age", MASTERS[0]), &dir.path().display().to_string()]).ok();
    cluster.sh(MASTERS[0], "kubectl create configmap after-the-backup");

    lose_disks(cluster, &MASTERS);
    for file in [&backup, &key] {
        cluster.lab.run("cp", &[file, &format!("{RESTORED}:/root")]).ok();
    }
    cluster.sh(RESTORED, "blackstart node install && rm -r /etc/cluster-config");
    let output = cluster.sh(RESTORED, "blackstart backup restore /root/backup.age --key-file /root/join.key --yes");
    assert!(output.contains("master-02 is ready to start"), "{output}");
    // It is not waited for: the cluster's DNS may have been on masters that are still missing.
    cluster.sh(RESTORED, "systemctl start --no-block cluster-bootstrap");
    let ready = [RESTORED, WORKER].map(str::to_owned);
    eventually("it and the worker are Ready", || {
        let found = ready_at(cluster, RESTORED);
        ready.iter().all(|name| found.contains(name))
    });
    assert_eq!(members(cluster, RESTORED), [(RESTORED.to_owned(), true)]);
    assert_objects(cluster, RESTORED);

    for other in OTHERS {
        cluster.install(&cluster.sealed_dir(other), other);
    }
    await_whole(cluster, &NODES);
    for master in MASTERS {
        assert_objects(cluster, master);
    }
    let pods = "kubectl rollout status deployment/kept --timeout=3m && kubectl rollout restart deployment/kept && \
                kubectl rollout status deployment/kept --timeout=3m";
    cluster.sh(MASTERS[0], pods);
}

fn create_objects(cluster: &Cluster) {
    cluster.sh(
        MASTERS[0],
        "kubectl create configmap before-the-loss --from-literal=kept=yes && \
         kubectl create secret generic kept --from-literal=word=xyzzy && \
         kubectl create deployment kept --image=$(ctr -n k8s.io images ls -q | grep pause: | head -n 1) && \
         kubectl rollout status deployment/kept --timeout=3m",
    );
}

fn assert_objects(cluster: &Cluster, master: &str) {
    let get = |what: &str| cluster.sh(master, &format!("kubectl get {what} 2>&1 || true"));
    assert_eq!(get("configmap before-the-loss -o jsonpath={.data.kept}"), "yes", "{master}");
    let word = get("secret kept -o jsonpath={.data.word}");
    assert_eq!(word, "eHl6enk=", "{master}: the key that encrypts Secrets came back, too");
    assert!(get("configmap after-the-backup").contains("not found"), "{master}");
}
