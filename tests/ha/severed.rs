//! The network is cut in the middle of a join.

use crate::{
    MASTERS, NODES, await_whole, bootstrap_with, lose_disks, members, message, struck_at,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] =
    &[("a master that is cut off after it was announced says what it waits for, and goes on", goes_on)];

fn goes_on(cluster: &Cluster) {
    let [first, second, joiner] = MASTERS;
    lose_disks(cluster, &[joiner]);
    bootstrap_with(cluster, joiner, "BLACKSTART_FAULT=etcd-join:ended:halt");
    cluster.install(&cluster.sealed_dir(joiner), joiner);
    eventually("it is announced and stands still", || !struck_at(cluster, joiner).is_empty());
    let voters = [(String::new(), false), (first.to_owned(), true), (second.to_owned(), true)];
    assert_eq!(members(cluster, first), voters, "it has a place, has not started and has no vote");
    cluster.lab.run("cut", &[joiner, first, second]).ok();
    cluster.sh(joiner, "systemctl kill --signal=CONT cluster-bootstrap");
    let mut reported = String::new();
    eventually("it says what it waits for, and what etcd says", || {
        reported = message(cluster, joiner);
        reported.contains("etcd.service to run") && reported.contains("last log line: ")
    });
    eprintln!("  {reported}");
    assert!(!cluster.is_up(joiner));
    cluster.lab.run("heal", &[]).ok();
    await_whole(cluster, &NODES);
}
