//! The first boot, when masters do not see each other or come one after the other.

use nodekit::run_record::Outcome;

use crate::{
    MASTERS, await_whole, members, message,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("the first master that sees no other waits, and says why", waits_alone),
    ("no other master starts a cluster without it", others_wait),
    ("only the first master may be forced", forced),
    ("when most see each other, the first one starts after a minute, and the second joins it", starts_with_most),
    ("the third joins when it comes, and all have a vote", third_joins),
];

fn has_started(cluster: &Cluster, master: &str) -> bool {
    cluster.sh(master, "test -e /var/lib/etcd/initial.env -o -e /var/lib/etcd/member && echo yes || true") == "yes"
}

fn waits_alone(cluster: &Cluster) {
    cluster.lab.run("cut", &[MASTERS[0], MASTERS[1], MASTERS[2]]).ok();
    for master in &MASTERS[..2] {
        cluster.install(&cluster.sealed_dir(master), master);
    }
    let wanted = "most of the 3 masters to report that there is no cluster yet (master-02 is silent since ";
    eventually("the first master says for whom it waits", || message(cluster, MASTERS[0]).contains(wanted));
    assert!(message(cluster, MASTERS[0]).contains("`blackstart node up --force-new-cluster` starts one"));
    assert_eq!(cluster.last_up(MASTERS[0]).unwrap().outcome, Outcome::Working);
}

fn others_wait(cluster: &Cluster) {
    eventually("the second says for whom it waits", || {
        message(cluster, MASTERS[1]).contains("master-01 to start the cluster, or another master to be part of it")
    });
    assert!(!has_started(cluster, MASTERS[0]) && !has_started(cluster, MASTERS[1]));
}

fn forced(cluster: &Cluster) {
    cluster.node_up(MASTERS[1], "--force-new-cluster").refused(2, "BS-CLI-015");
}

fn starts_with_most(cluster: &Cluster) {
    cluster.lab.run("heal", &[]).ok();
    eventually("the first master gives the third a minute", || {
        message(cluster, MASTERS[0]).contains("the other masters, to bootstrap etcd with them, for 60 s at most")
    });
    eventually("it starts without the third", || has_started(cluster, MASTERS[0]));
    eventually("the second master has a place in etcd", || has_started(cluster, MASTERS[1]));
    eventually("the second master has joined", || cluster.is_up(MASTERS[1]));
    eventually("the first master is done", || cluster.is_up(MASTERS[0]));
    let both: Vec<_> = MASTERS[..2].iter().map(|name| ((*name).to_owned(), true)).collect();
    eventually("both have a vote", || members(cluster, MASTERS[0]) == both);
    assert!(cluster.sh(MASTERS[0], "cat /var/lib/etcd/initial.env").contains("STATE=new"));
    assert!(cluster.sh(MASTERS[1], "cat /var/lib/etcd/initial.env").contains("STATE=existing"));
}

fn third_joins(cluster: &Cluster) {
    cluster.install(&cluster.sealed_dir(MASTERS[2]), MASTERS[2]);
    await_whole(cluster, &MASTERS);
}
