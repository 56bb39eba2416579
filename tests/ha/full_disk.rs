//! The disk of one etcd is full.

use crate::{
    ETCDCTL, MASTERS, NODES, await_whole,
    caller::Caller,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] =
    &[("one etcd has no room: the others go on, diagnose names it, and it comes back with the room", comes_back)];

const FULL: &str = MASTERS[2];
const DATA: &str = "/var/lib/etcd";
const ASIDE: &str = "/root/etcd";

/// Writes a few megabytes.
const LARGE: &str = "head -c 600000 /dev/urandom | base64 -w0 > /tmp/large; for n in 1 2 3 4; do \
                     kubectl create configmap large-$(cat /proc/sys/kernel/random/uuid) --from-file=/tmp/large; done";

fn comes_back(cluster: &Cluster) {
    let caller = Caller::at_work(cluster);
    // Its log alone reserves 128 MB.
    exchange_disk(cluster, &format!("mount -t tmpfs -o size=256m,mode=700 tmpfs {DATA}"));
    await_whole(cluster, &NODES);

    let mark = caller.acknowledged();
    eventually("etcd gives up", || {
        fill(cluster);
        // Small things find room in what the database has left over.
        cluster.sh(MASTERS[0], LARGE);
        is_given_up(cluster)
    });
    let longest = caller.goes_on(mark);
    eprintln!("  no longer than {longest} ms without a write that was acknowledged");
    fill(cluster);
    let diagnosed = cluster.try_sh(FULL, "blackstart diagnose");
    assert!(
        diagnosed.out.contains("BS-PRE-012") && diagnosed.out.contains(&format!("{DATA} is full")),
        "{diagnosed:?}"
    );
    // Started again, it answers until it has something to write.
    eventually("etcd reports that one is missing", || {
        fill(cluster);
        cluster.sh(MASTERS[0], LARGE);
        cluster.try_sh(MASTERS[0], "blackstart etcd status").out.contains("2 of 3 voters healthy, 2 needed")
    });

    cluster.sh(FULL, &format!("rm {DATA}/filler"));
    eventually("its member is healthy", || cluster.try_sh(FULL, &format!("{ETCDCTL} endpoint health")).code == Some(0));
    await_whole(cluster, &NODES);
    exchange_disk(cluster, &format!("umount {DATA}"));
    await_whole(cluster, &NODES);
}

/// To the last block. Each start of etcd frees some: of the segments of its log that it had reserved and not begun.
fn fill(cluster: &Cluster) {
    let more =
        format!("dd if=/dev/zero of={DATA}/filler bs=4k oflag=append conv=notrunc 2>/dev/null; test -s {DATA}/filler");
    cluster.sh(FULL, &more);
}

/// Puts another disk below etcd's data.
fn exchange_disk(cluster: &Cluster, how: &str) {
    let line = format!(
        "set -e; systemctl stop etcd; mkdir {ASIDE}; mv {DATA}/* {ASIDE}; {how}; mv {ASIDE}/* {DATA}; rmdir {ASIDE}; \
         systemctl start etcd"
    );
    cluster.sh(FULL, &line);
}

/// It ends, is started again and ends again; that it complains is not enough.
fn is_given_up(cluster: &Cluster) -> bool {
    cluster.sh(FULL, "systemctl show -p NRestarts --value etcd").parse::<u32>().unwrap() >= 2
}
