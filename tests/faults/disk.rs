//! Disks that are full or cannot be written: a clear code, nothing lost, and it goes on when there is room.

use serde_json::Value;

use crate::{
    MASTER,
    support::{Check, Cluster, CommandOutput},
};

const STATE: &str = "/var/lib/cluster-state";
const KUBERNETES: &str = "/etc/kubernetes";

/// On a machine that is nothing yet. Each gets further than the one before, and the last one ends in the middle.
pub(crate) const BEFORE: &[Check] = &[
    ("a state directory that is read-only", read_only_state),
    ("a state directory that is full", full_state),
    ("a directory of certificates that is read-only", read_only_kubernetes),
    ("a state directory that fills up on the way", filling_state),
];

/// On a node that is Ready.
pub(crate) const AFTER: &[Check] = &[
    ("a node whose state directory is full stays one", full_state_later),
    ("a node whose directories are read-only stays one", read_only_later),
];

fn read_only_state(cluster: &Cluster) {
    cluster.sh(MASTER, &format!("mkdir -p {STATE} && mount -t tmpfs -o ro,size=64k tmpfs {STATE}"));
    let output = cluster.node_up(MASTER, "");
    cluster.sh(MASTER, &format!("umount {STATE}"));
    output.refused(1, "BS-HOST-004");
    assert!(output.err.contains(STATE), "{output:?}");
    assert_untouched(cluster);
}

fn full_state(cluster: &Cluster) {
    cluster.sh(MASTER, &format!("mount -t tmpfs -o size=64k tmpfs {STATE} && {}", fill(0)));
    let output = cluster.node_up(MASTER, "");
    cluster.sh(MASTER, &format!("umount {STATE}"));
    output.refused(1, "BS-HOST-003");
    assert!(output.err.contains(STATE), "{output:?}");
    assert_untouched(cluster);
}

fn read_only_kubernetes(cluster: &Cluster) {
    let bind = format!("mkdir -p {KUBERNETES} && mount --bind {KUBERNETES} {KUBERNETES}");
    cluster.sh(MASTER, &format!("{bind} && mount -o remount,bind,ro {KUBERNETES}"));
    let output = cluster.node_up(MASTER, "");
    cluster.sh(MASTER, &format!("umount {KUBERNETES}"));
    output.refused(1, "BS-HOST-004");
    assert!(output.err.contains(KUBERNETES), "{output:?}");
    assert_eq!(cluster.sh(MASTER, &format!("find {KUBERNETES} -type f")), "");
}

/// From here on the state is on a small disk of its own, with what there was so far.
fn filling_state(cluster: &Cluster) {
    let moved = format!(
        "cp -a {STATE} /root/state && mount -t tmpfs -o size=512k tmpfs {STATE} && cp -a /root/state/. {STATE}"
    );
    cluster.sh(MASTER, &moved);
    let verified_before = verified(cluster).len();
    cluster.sh(MASTER, &fill(5));
    let output = cluster.node_up(MASTER, "");
    output.refused(1, "BS-HOST-003");
    assert!(output.err.contains(STATE), "{output:?}");
    let verified = verified(cluster);
    assert!(verified.len() >= verified_before, "what was known is known: {verified:?}");
    assert_eq!(cluster.sh(MASTER, &format!("find {STATE} -name '*blackstart-new*'")), "");
    cluster.sh(MASTER, &format!("rm {STATE}/filler"));
}

fn full_state_later(cluster: &Cluster) {
    let before = cluster.sh(MASTER, &format!("cat {STATE}/ledger.json"));
    cluster.sh(MASTER, &fill(0));
    let output = cluster.node_up(MASTER, "");
    assert_done_or_refused(&output, "BS-HOST-003");
    assert_eq!(cluster.sh(MASTER, &format!("cat {STATE}/ledger.json")), before);
    cluster.await_ready(&[MASTER]);
    cluster.sh(MASTER, &format!("rm {STATE}/filler"));
    cluster.node_up(MASTER, "").ok();
}

fn read_only_later(cluster: &Cluster) {
    cluster.sh(MASTER, &format!("mount --bind {KUBERNETES} {KUBERNETES} && mount -o remount,bind,ro {KUBERNETES}"));
    let output = cluster.node_up(MASTER, "");
    cluster.sh(MASTER, &format!("umount {KUBERNETES}"));
    assert!(output.ok().contains("nothing was changed"), "there is nothing to write");

    cluster.sh(MASTER, &format!("mount -o remount,ro {STATE}"));
    let output = cluster.node_up(MASTER, "");
    cluster.sh(MASTER, &format!("mount -o remount,rw {STATE}"));
    output.refused(1, "BS-HOST-004");
    cluster.await_ready(&[MASTER]);
    assert!(cluster.node_up(MASTER, "").ok().contains("nothing was changed"));
}

/// A line that leaves so many pages of the state directory's disk.
fn fill(pages: u32) -> String {
    let filler = format!("{STATE}/filler");
    format!(
        "dd if=/dev/zero of={filler} bs=4k 2>/dev/null; [ {pages} = 0 ] || truncate -s -$(({pages} * 4096)) {filler}; test -s {filler}"
    )
}

/// Whether it had to write anything, or could say so.
fn assert_done_or_refused(output: &CommandOutput, code: &str) {
    match output.code {
        Some(0) => assert!(output.out.contains("is a Ready node"), "{output:?}"),
        _ => output.refused(1, code),
    }
}

fn assert_untouched(cluster: &Cluster) {
    let made = format!("ls -d {KUBERNETES}/pki /var/lib/etcd /etc/systemd/system/etcd.service 2>/dev/null || true");
    assert_eq!(cluster.sh(MASTER, &made), "");
}

/// The steps that the ledger holds as verified.
fn verified(cluster: &Cluster) -> Vec<String> {
    let text = cluster.sh(MASTER, &format!("cat {STATE}/ledger.json"));
    let ledger: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
    let steps = ledger["ledger"]["steps"].as_object().unwrap_or_else(|| panic!("steps in {text}"));
    let is_verified = |record: &&Value| record.to_string().contains("verified");
    steps.iter().filter(|(_, record)| is_verified(record)).map(|(name, _)| name.clone()).collect()
}
