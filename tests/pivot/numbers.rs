//! Other numbers of masters than three: one, with whom etcd goes from two voters to one, and five.

use crate::{
    BOOTSTRAP, MASTERS, WORKER, await_cluster,
    caller::Caller,
    checks, install, is_by_ignition, no_write_is_lost,
    support::{Cluster, TestLab, eventually},
    typed,
};

/// From machines that are nothing to a cluster without its bootstrap node, while a client writes.
pub(crate) fn take_over(masters: u8) {
    eprintln!("a bootstrap node and {masters} masters");
    let lab = TestLab::unmade();
    lab.run("up", &["--pivot", "--machines-only", "--masters", &masters.to_string(), "--workers", "1"]).ok();
    typed::name_the_api(&lab);
    let cluster = Cluster::seal(lab);
    install(&cluster, BOOTSTRAP);
    install(&cluster, WORKER);
    await_cluster(&cluster);
    typed::holds(&cluster);
    let caller = Caller::begin_as(&cluster, BOOTSTRAP);
    for master in checks::masters(&cluster) {
        install(&cluster, &master);
    }
    eventually("the masters have taken over", || cluster.is_up(BOOTSTRAP));
    cluster.sh(MASTERS[0], "blackstart bootstrap wait --timeout 1m");
    checks::await_nodes(&cluster);
    no_write_is_lost(caller);
    typed::is_complete(&cluster);
    if is_by_ignition() {
        typed::core_has_its_key(&cluster, BOOTSTRAP);
    }
    cluster.check(&[checks::OF_ANY_NUMBER]);
}
