//! A first master that no other answers, and a person who decides.

use crate::{
    MASTERS, WORKER, members, message, ready_at,
    support::{Cluster, eventually},
};

const DECISION: &str = "start a new cluster without asking master-02, master-03, as --force-new-cluster says";

/// Ends with a cluster of one master and the worker.
pub(crate) fn bootstraps(cluster: &Cluster) {
    let first = MASTERS[0];
    cluster.install(&cluster.sealed_dir(first), first);
    let advice = "`systemctl stop cluster-bootstrap` and then `blackstart node up --force-new-cluster` starts one";
    eventually("it says how to decide by hand", || message(cluster, first).contains(advice));
    assert_eq!(cluster.sh(first, "ls /var/lib/etcd 2>/dev/null || true"), "", "nothing was started");
    // Word for word as it was advised; the bootstrap of the boot must not go on beside it.
    let both = cluster.node_up(first, "--force-new-cluster");
    both.refused(1, "BS-ENGINE-001");
    assert!(both.err.contains("`systemctl stop cluster-bootstrap`"), "{both:?}");
    cluster.sh(first, "systemctl stop cluster-bootstrap");
    assert_eq!(cluster.sh(first, "systemctl --failed --plain --no-legend"), "", "it was stopped, and has not failed");
    let output = cluster.node_up(first, "--force-new-cluster").ok();
    assert!(output.contains("is a Ready node"), "{output}");
    assert_eq!(members(cluster, first), [(first.to_owned(), true)]);
    assert!(cluster.sh(first, "journalctl --no-pager -o cat -t blackstart").contains(DECISION));
    assert!(cluster.sh(first, "cat /var/lib/cluster-state/ledger.json").contains("force-new-cluster"));

    cluster.install(&cluster.sealed_dir(WORKER), WORKER);
    eventually("the worker has joined", || ready_at(cluster, first) == [first, WORKER]);
}
