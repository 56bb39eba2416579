//! Any one master may be gone, and everything goes on.

use std::env;

use crate::{
    MASTERS, NODES, WORKER, await_whole,
    caller::Caller,
    ready_at,
    support::{Check, Cluster, eventually, seed},
};

pub(crate) const CHECKS: &[Check] = &[
    ("with any one master killed, standing still or cut off, the API goes on and loses nothing", goes_on),
    ("a worker joins while the first master is dead", joins_without_the_first),
];

/// What happens to a master, and what brings it back.
const FATES: [(&str, &str); 3] = [("kill", "up"), ("pause", "resume"), ("cut", "heal")];

/// Every fate of every master with `BLACKSTART_TEST_FULL=1`; else one for each, which the seed chooses.
fn cases() -> Vec<(&'static str, (&'static str, &'static str))> {
    let is_full = env::var_os("BLACKSTART_TEST_FULL").is_some();
    let chosen = |master: usize, fate: usize| is_full || (master as u64 + seed()) % 3 == fate as u64;
    let all = (0..3).flat_map(|master| (0..3).map(move |fate| (master, fate)));
    all.filter(|(master, fate)| chosen(*master, *fate)).map(|(master, fate)| (MASTERS[master], FATES[fate])).collect()
}

fn goes_on(cluster: &Cluster) {
    let caller = Caller::begin(cluster);
    for (master, (how, back)) in cases() {
        let mark = caller.acknowledged();
        cluster.lab.run(how, &[master]).ok();
        let longest = caller.goes_on(mark);
        eprintln!("  {how} {master}: no longer than {longest} ms without a write that was acknowledged");
        let other = if master == MASTERS[0] { MASTERS[1] } else { MASTERS[0] };
        eventually("the worker's kubelet is heard", || ready_at(cluster, other).contains(&WORKER.to_owned()));
        match back {
            "up" => cluster.lab.run("up", &crate::UP).ok(),
            back => cluster.lab.run(back, &[master]).ok(),
        };
        await_whole(cluster, &NODES);
    }
    let (acknowledged, lost) = caller.end();
    eprintln!("  {acknowledged} writes were acknowledged, {} of them are lost", lost.len());
    assert!(lost.is_empty(), "{lost:?}");
}

fn joins_without_the_first(cluster: &Cluster) {
    cluster.sh(WORKER, "blackstart node reset --yes");
    eventually("the worker has left", || !ready_at(cluster, MASTERS[1]).contains(&WORKER.to_owned()));
    cluster.lab.run("kill", &[MASTERS[0]]).ok();
    let output = cluster.node_up(WORKER, "").ok();
    assert!(output.contains("is a Ready node"), "{output}");
    assert_eq!(cluster.sh(WORKER, "systemctl --failed --plain --no-legend"), "");
    eventually("it is Ready", || ready_at(cluster, MASTERS[1]).contains(&WORKER.to_owned()));
    cluster.lab.run("up", &crate::UP).ok();
    await_whole(cluster, &NODES);
}
