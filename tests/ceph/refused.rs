//! What is not ours is neither used nor destroyed, and named.

use crate::{
    LAST,
    storage::{await_health, ceph, lose},
    support::{Check, Cluster, CommandOutput},
};

pub(crate) const CHECKS: &[Check] = &[("what belongs to others is refused by name, and stays", refused)];

const OTHER: &str = "11111111-2222-4333-8444-555555555555";
const STORE: &str = "/var/lib/ceph-osd/one";

fn refused(cluster: &Cluster) {
    lose(cluster, LAST);
    another_cluster(cluster, "/etc/ceph/ceph.conf", "", &format!("[global]\nfsid = {OTHER}\n"));
    another_cluster(cluster, &format!("/var/lib/ceph/mon/ceph-{LAST}"), "/ceph_fsid", OTHER);
    data(cluster, "dear diary", "data of an unknown kind");
    data(cluster, &format!("bluestore block device\\n{OTHER}\\n"), "OSD");
    cluster.node_up(LAST, "").ok();
    await_health(cluster);
}

/// A file of another cluster, or a file in what is its, stops everything, and is still there.
fn another_cluster(cluster: &Cluster, named: &str, within: &str, text: &str) {
    let path = format!("{named}{within}");
    cluster.sh(LAST, &format!("mkdir -p $(dirname {path}) && printf '{text}' > {path}"));
    let output = cluster.node_up(LAST, "");
    is_refused(&output, "BS-CEPH-005", &[named, OTHER]);
    assert_eq!(cluster.sh(LAST, &format!("cat {path}")), text.trim());
    cluster.sh(LAST, &format!("rm -r {path}; rmdir $(dirname {path}) || true"));
}

/// Where something lies, no OSD is made, and what lies there stays.
fn data(cluster: &Cluster, text: &str, called: &str) {
    cluster.sh(LAST, &format!("mkdir -p $(dirname {STORE}) && printf '{text}' > {STORE}"));
    let before = cluster.sh(LAST, &format!("sha256sum {STORE}"));
    let osds = ceph(cluster, "osd ls");
    let output = cluster.node_up(LAST, "");
    is_refused(&output, "BS-CEPH-010", &[STORE, called, "wipe: true"]);
    assert_eq!(cluster.sh(LAST, &format!("sha256sum {STORE}")), before);
    assert_eq!(ceph(cluster, "osd ls"), osds, "no number was taken");
    cluster.sh(LAST, &format!("rm {STORE}"));
}

#[track_caller]
fn is_refused(output: &CommandOutput, code: &str, words: &[&str]) {
    let printed = format!("{}{}", output.out, output.err);
    assert_ne!(output.code, Some(0), "{printed}");
    for word in [&[code], words].concat() {
        assert!(printed.contains(word), "`{word}` is not in: {printed}");
    }
}
