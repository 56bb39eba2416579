//! etcd itself: how it is, and a snapshot of it alone.

use serde_json::Value;

use crate::{
    MASTER, remember, remembers, start,
    support::{Check, Cluster, text},
};

pub(crate) const CHECKS: &[Check] = &[
    ("etcd's status is shown as it is, also while it is down", status),
    ("a snapshot is whole, private and overwrites nothing", snapshot),
    ("a snapshot that is interrupted leaves nothing", interrupted),
    ("what is no snapshot is not restored", refused),
    ("etcd goes back to a snapshot and keeps what was there", restored),
];

fn status(cluster: &Cluster) {
    let status = cluster.sh(MASTER, "blackstart etcd status -o json");
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((status["has_majority"].as_bool(), status["voters"].as_u64()), (Some(true), Some(1)), "{status}");
    let member = &status["members"][0];
    assert_eq!((text(&member["name"]).as_str(), text(&member["role"]).as_str()), (MASTER, "leader"), "{status}");
    let shown = cluster.sh(MASTER, "blackstart etcd status");
    assert!(shown.contains("healthy") && shown.contains("none of them may fail"), "{shown}");
    let members: Value = serde_json::from_str(&cluster.sh(MASTER, "blackstart etcd members -o json")).unwrap();
    assert_eq!(members["members"][0]["id"], member["id"]);

    cluster.sh(MASTER, "systemctl stop etcd");
    let down = cluster.try_sh(MASTER, "blackstart etcd status");
    let list = cluster.try_sh(MASTER, "blackstart etcd members");
    let snapshot = cluster.try_sh(MASTER, "blackstart etcd snapshot /root/none.db");
    cluster.sh(MASTER, "systemctl start etcd");
    assert_eq!(down.code, Some(3), "{down:?}");
    assert!(down.out.contains("silent") && down.out.contains("no master answers"), "{down:?}");
    list.refused(1, "BS-ETCD-007");
    snapshot.refused(1, "BS-ETCD-001");
    assert_eq!(cluster.sh(MASTER, "ls -A /root | grep none.db || true"), "", "nothing half-written is left");
    cluster.await_ready(&[MASTER]);
}

fn snapshot(cluster: &Cluster) {
    remember(cluster, "in-the-snapshot");
    let output = cluster.sh(MASTER, "blackstart etcd snapshot /root/x.db && stat -c %a /root/x.db");
    assert!(output.contains("its sum fits") && output.ends_with("600"), "{output}");
    let theirs = cluster.sh(MASTER, "etcdutl snapshot status /root/x.db -w json");
    let theirs: Value = serde_json::from_str(&theirs).unwrap();
    assert!(theirs["totalKey"].as_u64().is_some_and(|keys| keys > 50), "{theirs}");
    cluster.try_sh(MASTER, "blackstart etcd snapshot /root/x.db").refused(1, "BS-ETCD-005");
    cluster.sh(MASTER, "mkdir -p /run/small && mount -t tmpfs -o size=64k tmpfs /run/small");
    let full = cluster.try_sh(MASTER, "blackstart etcd snapshot /run/small/x.db");
    full.refused(1, "BS-HOST-003");
    assert_eq!(cluster.sh(MASTER, "ls -A /run/small; umount /run/small"), "", "nothing half-written is left");
}

/// An etcd that stands still holds it in the middle.
fn interrupted(cluster: &Cluster) {
    let line = "systemctl kill --signal=STOP etcd
                mkdir /root/cut; cd /root/cut
                blackstart etcd snapshot x.db 2>/root/cut.err & taken=$!
                until [ -n \"$(ls -A)\" ]; do sleep 0.1; done
                kill -INT $taken; wait $taken; echo $? $(ls -A) $(cat /root/cut.err)
                systemctl kill --signal=CONT etcd; rmdir /root/cut";
    let output = cluster.sh(MASTER, line);
    assert_eq!(output, "130 taking a snapshot of etcd … stopped; what was begun is removed");
}

fn refused(cluster: &Cluster) {
    cluster.try_sh(MASTER, "blackstart etcd restore /root/x.db --yes").refused(1, "BS-BACKUP-012");
    for (what, line) in [
        ("a flipped byte", "cp /root/x.db /root/y.db && printf X | dd of=/root/y.db bs=1 seek=50000 conv=notrunc"),
        ("half of it", "head -c 50000 /root/x.db > /root/y.db"),
        ("nothing", ": > /root/y.db"),
    ] {
        cluster.sh(MASTER, line);
        let output = cluster.try_sh(MASTER, "blackstart etcd restore /root/y.db --yes");
        assert!(output.err.contains("BS-ETCD-008"), "{what}: {output:?}");
    }
    cluster.try_sh(MASTER, "blackstart etcd restore /root/x.db < /dev/null").refused(1, "BS-BACKUP-012");
}

/// A disk that is not mounted must not look like the beginning of a new cluster.
fn lost(cluster: &Cluster) {
    cluster.sh(MASTER, "systemctl stop kube-apiserver etcd; mv /var/lib/etcd /root/etcd-kept; mkdir /var/lib/etcd");
    for (what, line) in [("all of it", "true"), ("the data", "cp -p /root/etcd-kept/initial.env /var/lib/etcd/")] {
        cluster.sh(MASTER, line);
        let output = cluster.try_sh(MASTER, "blackstart node up");
        assert!(output.err.contains("BS-NODE-007"), "{what}: {output:?}");
        assert_eq!(cluster.sh(MASTER, "ls -d /var/lib/etcd/member || echo none"), "none", "{what}");
    }
    cluster.sh(MASTER, "systemctl stop kube-apiserver; rm -r /var/lib/etcd; mv /root/etcd-kept /var/lib/etcd");
}

fn restored(cluster: &Cluster) {
    remember(cluster, "after-the-snapshot");
    lost(cluster);
    cluster.try_sh(MASTER, "blackstart etcd restore /root/x.db < /dev/null").refused(2, "BS-CLI-002");
    let output = cluster.sh(MASTER, "blackstart etcd restore /root/x.db --yes");
    assert!(output.contains("/var/lib/etcd/member.before-") && output.contains("blackstart node up"), "{output}");
    assert_eq!(cluster.sh(MASTER, "ls /var/lib/etcd/member.before-*/snap/db | wc -l"), "1");
    start(cluster);
    assert!(remembers(cluster, "in-the-snapshot"));
    assert!(!remembers(cluster, "after-the-snapshot"));
}
