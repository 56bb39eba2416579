//! Backup files: whole and private when they are made, refused when they are not what they were.

use serde_json::Value;

use crate::{
    MASTER,
    support::{Check, Cluster, eventually, text},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a backup is made for a key and opens with it only", with_a_key),
    ("a backup is made for a passphrase and opens with it only", with_a_passphrase),
    ("every kind of damage has its code", damaged),
    ("a backup that finds no room leaves nothing", no_room),
    ("a backup is made without being asked for", automatic),
];

fn with_a_key(cluster: &Cluster) {
    cluster.sh(MASTER, "umask 077; for n in 1 2; do blackstart backup key > /root/$n.key; done");
    let output = cluster.sh(MASTER, "cd /root && blackstart backup create x.age --key-file 1.key && stat -c %a x.age");
    assert!(output.contains("read back and whole") && output.ends_with("600"), "{output}");
    let manifest = cluster.sh(MASTER, "blackstart backup verify /root/x.age --key-file /root/1.key -o json");
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let files = manifest["manifest"]["files"].as_array().unwrap();
    for name in ["etcd/snapshot.db", "kubernetes/pki/ca.key", "kubernetes/encryption.yaml", "config/cluster.yaml"] {
        assert!(files.iter().any(|file| file["name"] == name), "{name} in {manifest}");
    }
    assert!(!files.iter().any(|file| text(&file["name"]).contains("join-secret")), "it is this node's own: {manifest}");
    cluster.try_sh(MASTER, "blackstart backup verify /root/x.age --key-file /root/2.key").refused(1, "BS-BACKUP-002");
    cluster.try_sh(MASTER, "blackstart backup verify /root/x.age").refused(1, "BS-BACKUP-002");
    cluster.try_sh(MASTER, "blackstart backup create /root/x.age --key-file /root/1.key").refused(1, "BS-BACKUP-008");
    cluster.try_sh(MASTER, "blackstart backup create /root/no.age < /dev/null").refused(2, "BS-BACKUP-017");
    assert_eq!(cluster.sh(MASTER, "strings -n 8 /root/x.age 2>/dev/null | grep -c registry || true"), "0");
}

fn with_a_passphrase(cluster: &Cluster) {
    cluster.sh(MASTER, "umask 077; echo 'correct horse battery' > /root/pass; echo short > /root/short");
    cluster.sh(MASTER, "blackstart backup create /root/p.age --passphrase-file /root/pass");
    cluster.sh(MASTER, "blackstart backup verify /root/p.age --passphrase-file /root/pass");
    cluster.sh(MASTER, "echo 'incorrect horse battery' > /root/wrong");
    let output = cluster.try_sh(MASTER, "blackstart backup verify /root/p.age --passphrase-file /root/wrong");
    output.refused(1, "BS-BACKUP-002");
    assert!(!output.err.contains("horse"), "{output:?}");
    cluster.try_sh(MASTER, "blackstart backup verify /root/p.age < /dev/null").refused(2, "BS-BACKUP-017");
    let short = cluster.try_sh(MASTER, "blackstart backup create /root/s.age --passphrase-file /root/short");
    short.refused(1, "BS-BACKUP-007");
}

fn damaged(cluster: &Cluster) {
    for (what, line, code) in [
        ("a flipped byte", "cp x.age y.age && printf X | dd of=y.age bs=1 seek=50000 conv=notrunc", "BS-BACKUP-003"),
        ("cut short", "head -c 100000 x.age > y.age", "BS-BACKUP-004"),
        ("all but its last byte", "head -c -1 x.age > y.age", "BS-BACKUP-004"),
        ("something else", "echo hello > y.age", "BS-BACKUP-001"),
        ("nothing", "rm y.age", "BS-HOST-001"),
    ] {
        cluster.sh(MASTER, &format!("cd /root && {line}"));
        for command in ["verify", "restore --yes"] {
            let output =
                cluster.try_sh(MASTER, &format!("blackstart backup {command} /root/y.age --key-file /root/1.key"));
            assert!(output.code == Some(1) && output.err.contains(code), "{what}, {command}: {output:?}");
        }
    }
}

fn no_room(cluster: &Cluster) {
    cluster.sh(MASTER, "mkdir -p /run/small && mount -t tmpfs -o size=256k tmpfs /run/small");
    let output = cluster.try_sh(MASTER, "blackstart backup create /run/small/ --key-file /root/1.key");
    output.refused(1, "BS-HOST-003");
    assert_eq!(cluster.sh(MASTER, "ls -A /run/small; umount /run/small"), "", "nothing half-written is left");
}

/// The first one comes a minute after the agent has started, and opens with what is on the machine.
fn automatic(cluster: &Cluster) {
    let list = || -> Value { serde_json::from_str(&cluster.sh(MASTER, "blackstart backup list -o json")).unwrap() };
    eventually("a backup is there", || list()["backups"].as_array().is_some_and(|all| !all.is_empty()));
    let path = text(&list()["backups"][0]["path"]);
    assert_eq!(cluster.sh(MASTER, &format!("stat -c %a $(dirname {path}) {path} | xargs")), "700 600");
    let output = cluster.sh(MASTER, &format!("blackstart backup verify {path}"));
    assert!(output.contains("is whole"), "{output}");
    let key = cluster.sh(MASTER, "cat /etc/cluster-config/join.key");
    let journal = cluster.journal(MASTER, "blackstart-agent");
    assert!(journal.contains("made a backup") && !journal.contains(&key), "{journal}");
}
