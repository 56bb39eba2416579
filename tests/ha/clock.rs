//! A master whose clock, as our process sees it, is a day wrong when it joins.

use crate::{
    MASTERS, NODES, await_whole, lose_disks, members,
    support::{Check, Cluster},
};

pub(crate) const CHECKS: &[Check] =
    &[("a joining master whose clock is a day wrong is refused, and joins when it is right", refused)];

const DAY: i64 = 24 * 60 * 60;

fn refused(cluster: &Cluster) {
    let joiner = MASTERS[2];
    lose_disks(cluster, &[joiner]);
    cluster.bring(&cluster.sealed_dir(joiner), joiner);
    let before = members(cluster, MASTERS[0]);
    for clock in [DAY, -DAY] {
        let output = cluster.try_sh(joiner, &format!("BLACKSTART_CLOCK={clock} timeout 120 blackstart node up"));
        // Before the day this code was written no clock is believed at all.
        let code = if output.err.contains("BS-PRE-004") { "BS-PRE-004" } else { "BS-NODE-006" };
        output.refused(1, code);
        assert!(clock < 0 || output.err.contains("86400 s ahead of master-0"), "{output:?}");
        assert_eq!(cluster.sh(joiner, "find /etc/kubernetes /var/lib/etcd -type f 2>/dev/null || true"), "");
    }
    assert_eq!(members(cluster, MASTERS[0]), before, "no member was added for it");
    let output = cluster.node_up(joiner, "").ok();
    assert!(output.contains("is a Ready node"), "{output}");
    await_whole(cluster, &NODES);
}
