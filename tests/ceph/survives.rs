//! An object outlives the loss of any one machine, and of all of them at once.

use crate::{
    MACHINES,
    storage::{await_bootstrap, await_health, await_object, store},
    support::{Check, Cluster},
};

pub(crate) const CHECKS: &[Check] = &[
    ("an object is read while any one machine is off, and all is well when it is back", each_in_turn),
    ("an object is read after all machines have rebooted at once", all_at_once),
];

fn each_in_turn(cluster: &Cluster) {
    let sum = store(cluster);
    for (index, machine) in MACHINES.iter().enumerate() {
        let other = MACHINES[(index + 1) % MACHINES.len()];
        cluster.lab.run("kill", &[machine]).ok();
        await_object(cluster, other, &sum);
        cluster.lab.run("up", &[]).ok();
        await_health(cluster);
    }
}

fn all_at_once(cluster: &Cluster) {
    let sum = store(cluster);
    let boots = MACHINES.map(|machine| cluster.lab.boot(machine));
    cluster.lab.run("reboot", &MACHINES).ok();
    for (machine, before) in MACHINES.iter().zip(boots) {
        assert_ne!(cluster.lab.boot(machine), before, "{machine}");
        await_bootstrap(cluster, machine);
    }
    await_health(cluster);
    for machine in MACHINES {
        await_object(cluster, machine, &sum);
    }
}
