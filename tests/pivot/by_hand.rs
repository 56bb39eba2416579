//! A case in which a person has a hand, and types what docs/guide/pivot.md says.

use crate::{
    BOOTSTRAP, MASTERS, WORKER, await_cluster,
    caller::Caller,
    install, lose_disk, members, no_write_is_lost,
    support::{Cluster, eventually},
    take_over,
};

/// A master has a copy of etcd's data that never had a vote when the only voter is lost.
pub(crate) fn lost_before_votes(cluster: &Cluster) -> String {
    install(cluster, BOOTSTRAP);
    install(cluster, WORKER);
    await_cluster(cluster);
    install(cluster, MASTERS[0]);
    let learns = (MASTERS[0].to_owned(), false);
    eventually("the first master is a learner", || members(cluster, BOOTSTRAP).contains(&learns));
    lose_disk(cluster, BOOTSTRAP);
    // As the guide has it.
    cluster.sh(MASTERS[0], "blackstart node reset --yes");
    install(cluster, BOOTSTRAP);
    eventually("the worker is up", || cluster.node_up(WORKER, "").code == Some(0));
    await_cluster(cluster);
    let caller = Caller::begin_as(cluster, BOOTSTRAP);
    cluster.sh(MASTERS[0], "systemctl start --no-block cluster-bootstrap");
    for master in &MASTERS[1..] {
        install(cluster, master);
    }
    take_over(cluster, false);
    no_write_is_lost(caller);
    "a learner".to_owned()
}
