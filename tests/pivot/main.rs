//! A temporary bootstrap node, from which three masters take the cluster over while a client writes.
//!
//! `cargo test --workspace --test pivot`, as root; plain `cargo test` leaves it out. The bootstrap node is ended on the way, by
//! SIGKILL or by cutting its power after one of its steps; the seed chooses which, `BLACKSTART_TEST_FULL=1` plays all of them.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod by_hand;
#[path = "../ha/caller.rs"]
#[expect(dead_code, reason = "shared with a suite that needs more of it")]
mod caller;
mod case;
#[path = "../support/cases.rs"]
#[expect(dead_code, reason = "shared with suites that need more of it")]
mod cases;
mod checks;
mod ignition;
#[path = "../ha/masters.rs"]
#[expect(dead_code, reason = "shared with a suite that needs more of it")]
mod masters;
mod numbers;
#[path = "../ha/reimaged.rs"]
mod reimaged;
#[path = "../ha/removed.rs"]
mod removed;
#[path = "../ha/renewed.rs"]
mod renewed;
#[path = "../ha/restored.rs"]
mod restored;
#[path = "../ha/rotated.rs"]
mod rotated;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;
#[path = "../ha/survives.rs"]
mod survives;
#[path = "../ha/together.rs"]
mod together;
mod typed;

use std::{path::Path, thread, time::Duration};

use caller::Caller;
use case::{Case, Ending};
use masters::{ETCDCTL, MASTERS, NODES, WORKER, await_whole, lose_disks, members, message, ready_at};
use support::{Check, Cluster, TestLab, eventually, turn};

const BOOTSTRAP: &str = "bootstrap";
/// Longer than an election of etcd (some seconds) and a Lease of a controller (15 s).
const CUT_OFF_FOR: Duration = Duration::from_secs(20);
/// `lab up` for a lab that goes all the way by itself.
const UP: [&str; 1] = ["--pivot"];

#[test]
fn masters_take_a_cluster_over() {
    let _turn = turn();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pivot");
    let lab = TestLab::unmade();
    lab.run("up", &["--machines-only", "--config", &config.display().to_string()]).ok();
    let cluster = Cluster::seal(lab);
    let all = case::all();
    // Neighbours are far apart.
    let of_the_seed = |seed: usize| all[(seed * 37) % all.len()];
    cases::play_all("pivot", &all, of_the_seed, |case| play(&cluster, case), || evidence(&cluster));
    cluster.check(&[checks::CHECKS]);
    if cases::is_turn(1, 4) {
        cluster.check(&[checks::SECOND_CLUSTER]);
    }
    if cases::is_turn(2, 4) {
        cluster.check(&[restored::CHECKS]);
    }
}

/// One master, with whom etcd goes from two voters to one, and five.
#[test]
fn other_numbers_of_masters_take_over() {
    let _turn = turn();
    for (masters, kind) in [(1, 0), (5, 2)] {
        if cases::is_turn(kind, 4) {
            numbers::take_over(masters);
        }
    }
}

/// As a user types it, from machines that are off; what other clusters stand, this one stands, too. One theme with one commit of two.
#[test]
fn its_masters_are_like_any_others() {
    let themes: [&[&[Check]]; 4] = [
        &[together::CHECKS, renewed::CHECKS, survives::CHECKS],
        &[reimaged::CHECKS],
        &[removed::CHECKS],
        &[rotated::CHECKS],
    ];
    let wanted = (0..).zip(themes).filter(|(theme, _)| cases::is_turn(2 * theme + 1, 8));
    let wanted: Vec<&[Check]> = wanted.flat_map(|(_, theme)| theme).copied().collect();
    if wanted.is_empty() {
        return;
    }
    let _turn = turn();
    let lab = TestLab::unmade();
    lab.run("up", &UP).ok();
    let cluster = Cluster { lab };
    cluster.check(&[checks::NOTHING_IS_WRONG]);
    cluster.check(&wanted);
}

/// From machines that are nothing to a cluster without its bootstrap node.
fn play(cluster: &Cluster, case: &Case) -> Option<String> {
    start_over(cluster);
    match case.ending {
        Ending::LostBeforeVotes => Some(by_hand::lost_before_votes(cluster)),
        _ => disturb(cluster, case),
    }
}

/// The machine meets its end by itself, wherever the others are by then.
fn disturb(cluster: &Cluster, case: &Case) -> Option<String> {
    arm(cluster, case.machine, &fault(case));
    thread::scope(|scope| {
        let struck = scope.spawn(|| strike(cluster, case));
        install(cluster, BOOTSTRAP);
        install(cluster, WORKER);
        let at = if case.ending == Ending::LostDisk {
            let at = struck.join().unwrap();
            // It may have joined the cluster that is lost.
            eventually("the worker is up", || cluster.node_up(WORKER, "").code == Some(0));
            Struck::Known(at)
        } else {
            Struck::Coming(struck)
        };
        await_cluster(cluster);
        let caller = Caller::begin_as(cluster, BOOTSTRAP);
        for master in MASTERS {
            install(cluster, master);
        }
        if case.ending == Ending::Dead {
            eventually("a master removes the bootstrap node", || {
                !is_on(cluster, BOOTSTRAP)
                    && cluster.try_sh(MASTERS[0], "blackstart bootstrap remove --yes").code == Some(0)
            });
        }
        take_over(cluster, case.ending == Ending::Dead);
        no_write_is_lost(caller);
        match at {
            Struck::Known(at) => at,
            Struck::Coming(struck) => struck.join().unwrap(),
        }
    })
}

/// Waits until the masters have the cluster, from a bootstrap node that retires or is dead.
fn take_over(cluster: &Cluster, is_dead: bool) {
    if !is_dead {
        eventually("the masters have taken over", || cluster.is_up(BOOTSTRAP));
    }
    cluster.sh(MASTERS[0], "blackstart bootstrap wait --timeout 1m");
    cluster.await_ready(&NODES);
}

enum Struck<'scope> {
    Known(Option<String>),
    Coming(thread::ScopedJoinHandle<'scope, Option<String>>),
}

/// As the documents of this kind have it: masters are switched on when there is an API.
fn await_cluster(cluster: &Cluster) {
    let local = "kubectl --kubeconfig /etc/kubernetes/kubeconfigs/localhost.kubeconfig --request-timeout 5s";
    eventually("the bootstrap node has a cluster", || {
        cluster.try_sh(BOOTSTRAP, &format!("{local} get node {WORKER}")).code == Some(0)
    });
    let degraded = r#"get co -o jsonpath='{.items[*].status.conditions[?(@.type=="Degraded")].status}'"#;
    eventually("all operators wait for masters", || {
        cluster.try_sh(BOOTSTRAP, &format!("{local} {degraded}")).out.trim() == ["True"; checks::OPERATORS].join(" ")
    });
}

fn no_write_is_lost(caller: Caller<'_>) {
    let longest = caller.goes_on(1);
    let refused = caller.refused();
    let (acknowledged, lost) = caller.end();
    eprintln!(
        "  {acknowledged} writes were acknowledged, {} of them are lost; longest time without one: {longest} ms; {} \
         calls were refused",
        lost.len(),
        refused.len()
    );
    assert!(lost.is_empty(), "{lost:?}");
}

/// Machines with empty disks that have booted; the first time they are that already.
fn start_over(cluster: &Cluster) {
    if !is_on(cluster, BOOTSTRAP)
        || cluster.try_sh(MASTERS[0], "test -e /var/lib/cluster-state").code == Some(0)
        || cluster.try_sh(BOOTSTRAP, "test -e /var/lib/cluster-state").code == Some(0)
    {
        let all = [&["--yes", BOOTSTRAP], &NODES[..]].concat();
        cluster.lab.run("wipe", &all).ok();
        cluster.lab.run("up", &["--machines-only"]).ok();
    }
}

fn is_on(cluster: &Cluster, machine: &str) -> bool {
    cluster.try_sh(machine, "true").code == Some(0)
}

/// One commit of two sets its machines up by the real Ignition, the other one by `node install`.
fn is_by_ignition() -> bool {
    (support::seed() / 2).is_multiple_of(2)
}

fn install(cluster: &Cluster, machine: &str) {
    if is_by_ignition() {
        ignition::install(cluster, machine);
    } else {
        cluster.install(&cluster.sealed_dir(machine), machine);
    }
}

fn fault(case: &Case) -> String {
    let word = if case.ending == Ending::Kill { "kill" } else { "halt" };
    format!("{}:ended:{word}", case.step)
}

/// Good for this boot of the machine only.
fn arm(cluster: &Cluster, machine: &str, fault: &str) {
    let dir = "/run/systemd/system/cluster-bootstrap.service.d";
    let fault = format!("[Service]\\nEnvironment=BLACKSTART_FAULT={fault}\\nRestartSec=1s\\n");
    cluster.sh(machine, &format!("mkdir -p {dir} && printf '{fault}' > {dir}/fault.conf"));
}

/// Waits for the instant, and says where it was. A process whose power is to be cut has only stopped until then.
fn strike(cluster: &Cluster, case: &Case) -> Option<String> {
    let Case { machine, ending, .. } = *case;
    let mut at = String::new();
    eventually("the machine has met its end", || {
        cluster.try_sh(machine, "cat /run/blackstart-fault").out.trim().clone_into(&mut at);
        !at.is_empty() || cluster.is_up(machine)
    });
    if at.is_empty() {
        return None;
    }
    match ending {
        Ending::Kill => {}
        Ending::PowerLoss => {
            ignition::lab(cluster, "kill", &[machine]);
            ignition::switch_on(cluster);
        }
        Ending::LostDisk => {
            lose_disk(cluster, machine);
            install(cluster, machine);
        }
        Ending::Dead => ignition::lab(cluster, "kill", &[machine]),
        Ending::CutOff => {
            let others = [BOOTSTRAP].into_iter().chain(MASTERS).filter(|other| *other != machine);
            let both: Vec<&str> = [machine].into_iter().chain(others).collect();
            ignition::lab(cluster, "cut", &both);
            cluster.sh(machine, "systemctl kill --signal=CONT cluster-bootstrap");
            // The fault itself takes time: others give up on it, elect a leader and let Leases run out.
            thread::sleep(CUT_OFF_FOR);
            ignition::lab(cluster, "heal", &[]);
        }
        Ending::LostBeforeVotes => unreachable!("{case} is played by hand"),
    }
    Some(at)
}

fn lose_disk(cluster: &Cluster, machine: &str) {
    ignition::lab(cluster, "wipe", &["--yes", machine]);
    ignition::switch_on(cluster);
}

fn evidence(cluster: &Cluster) -> String {
    let line = "blackstart node status; journalctl --no-pager -u cluster-bootstrap -u bootkube -n 40";
    cluster.try_sh(BOOTSTRAP, line).out
}
