//! Everything is lost but a file: certificates, keys, etcd. And it comes back.

use crate::{
    MASTER, remember, remembers, start,
    support::{Check, Cluster},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a restore overwrites nothing that differs", in_the_way),
    ("a master that lost everything comes back", everything),
    ("a machine that was reset comes back", reset),
];

const RESTORE: &str = "blackstart backup restore /root/lost.age --key-file /root/lost.key";

fn in_the_way(cluster: &Cluster) {
    cluster.sh(MASTER, "umask 077; blackstart backup key > /root/lost.key");
    remember(cluster, "before-the-loss");
    cluster.kubectl(&["create", "secret", "generic", "kept", "--from-literal=word=xyzzy"]);
    cluster.sh(MASTER, "blackstart backup create /root/lost.age --key-file /root/lost.key");
    cluster.try_sh(MASTER, &format!("{RESTORE} --yes")).refused(1, "BS-BACKUP-012");
    let sums = "find /etc/kubernetes /etc/cluster-config -type f | sort | xargs sha256sum";
    cluster
        .sh(MASTER, "cp -a /etc/kubernetes/encryption.yaml /root/ && echo '# mine' >> /etc/kubernetes/encryption.yaml");
    let before = cluster.sh(MASTER, sums);
    let output = cluster.try_sh(MASTER, &format!("{RESTORE} --yes"));
    output.refused(1, "BS-BACKUP-011");
    assert!(output.err.contains("/etc/kubernetes/encryption.yaml") && !output.err.contains("ca.key"), "{output:?}");
    assert_eq!(cluster.sh(MASTER, sums), before);
    cluster.sh(MASTER, "mv /root/encryption.yaml /etc/kubernetes/");
}

fn everything(cluster: &Cluster) {
    remember(cluster, "after-the-backup");
    cluster.sh(MASTER, "systemctl stop kube-apiserver etcd && rm -rf /var/lib/etcd/* /etc/kubernetes");
    let asked = cluster.try_sh(MASTER, &format!("{RESTORE} < /dev/null"));
    asked.refused(2, "BS-CLI-002");
    assert_eq!(cluster.sh(MASTER, "ls -A /var/lib/etcd; ls -d /etc/kubernetes 2>&1 | grep -c 'No such'"), "1");
    let output = cluster.sh(MASTER, &format!("{RESTORE} --yes"));
    assert!(output.contains("run `blackstart node up`"), "{output}");
    assert_eq!(cluster.sh(MASTER, "ls /var/lib/etcd"), "initial.env\nmember");
    start(cluster);
    assert_kept(cluster);
    assert!(!remembers(cluster, "after-the-backup"));
}

/// What a reset leaves is a machine without configuration: the backup brings that, too.
fn reset(cluster: &Cluster) {
    cluster.sh(MASTER, "blackstart node reset --yes && rm -rf /etc/cluster-config");
    let output = cluster.sh(MASTER, &format!("{RESTORE} --yes"));
    assert!(output.contains("run `blackstart node up`"), "{output}");
    start(cluster);
    assert_kept(cluster);
}

fn assert_kept(cluster: &Cluster) {
    assert!(remembers(cluster, "before-the-loss"));
    let word = cluster.kubectl(&["get", "secret", "kept", "-o", "jsonpath={.data.word}"]);
    assert_eq!(word, "eHl6enk=", "the key that encrypts Secrets came back, too");
    // What is made from now on is newer than anything a client has seen.
    remember(cluster, "new");
    cluster.kubectl(&["delete", "configmap", "new"]);
}
