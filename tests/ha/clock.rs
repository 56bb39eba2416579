//! A master whose clock, as our process sees it, is a day wrong when it joins.

use crate::{
    MASTERS, NODES, await_whole, lose_disks, members,
    support::{Check, Cluster},
};

pub(crate) const CHECKS: &[Check] =
    &[("a joining master whose clock is a day wrong is told so, and joins when it is right", told)];

const DAY: i64 = 24 * 60 * 60;

fn told(cluster: &Cluster) {
    let joiner = MASTERS[2];
    lose_disks(cluster, &[joiner]);
    cluster.bring(&cluster.sealed_dir(joiner), joiner);
    let before = members(cluster, MASTERS[0]);
    for clock in [DAY, -DAY] {
        let said = cluster.try_sh(joiner, &format!("BLACKSTART_CLOCK={clock} timeout 120 blackstart node up"));
        // Before the day this code was written no clock is believed at all.
        let code = if said.err.contains("BS-PRE-004") { "BS-PRE-004" } else { "BS-NODE-006" };
        said.refused(1, code);
        assert!(clock < 0 || said.err.contains("86400 s ahead of master-0"), "{said:?}");
        assert_eq!(cluster.sh(joiner, "find /etc/kubernetes /var/lib/etcd -type f 2>/dev/null || true"), "");
    }
    assert_eq!(members(cluster, MASTERS[0]), before, "nobody was told that it comes");
    let said = cluster.node_up(joiner, "").ok();
    assert!(said.contains("is a Ready node"), "{said}");
    await_whole(cluster, &NODES);
}
