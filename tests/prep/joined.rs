//! A node that joins later is prepared without anyone doing anything.

use jiff::Timestamp;
use prep::{Prep, State};

use crate::{
    LATER, MASTER, WORKER,
    node::{ARCHIVES, await_whole, free_disk, initiator_name},
    pods::{await_running, ensure_applied},
    reported::in_status,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[("a worker that joins later is prepared by itself", prepared)];

fn prepared(cluster: &Cluster) {
    ensure_applied(cluster);
    // From now on the other one can go on as well.
    free_disk(cluster, WORKER, ARCHIVES);
    cluster.install(&cluster.sealed_dir(LATER), LATER);
    eventually(&format!("{LATER} has joined"), || cluster.is_up(LATER));
    for prep in Prep::ALL {
        await_running(cluster, prep, &[MASTER, WORKER, LATER]);
    }
    for machine in [LATER, WORKER] {
        await_whole(cluster, machine, Timestamp::UNIX_EPOCH);
    }
    let mut names = [MASTER, WORKER, LATER].map(|machine| initiator_name(cluster, machine)).to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 3, "every machine has a name of its own: {names:?}");
    for (prep, state) in [(Prep::Iscsi, State::Incapable), (Prep::Gpu, State::NotApplicable)] {
        eventually(&format!("`prep status` has {LATER} for {prep}"), || {
            in_status(cluster, LATER, prep)["state"] == state.name()
        });
    }
}
