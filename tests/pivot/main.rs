//! A temporary bootstrap node, from which three masters take the cluster over while a client writes.
//!
//! `cargo test --workspace --test pivot`, as root; plain `cargo test` leaves it out. The bootstrap node is ended on the way, by
//! SIGKILL or by cutting its power after one of its steps; the seed chooses which, `BLACKSTART_TEST_FULL=1` plays all of them.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

#[path = "../ha/caller.rs"]
#[expect(dead_code, reason = "shared with a suite that needs more of it")]
mod caller;
#[path = "../support/cases.rs"]
#[expect(dead_code, reason = "shared with suites that need more of it")]
mod cases;
mod checks;
mod ignition;
#[path = "../cluster/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with suites that need more of it")]
mod support;

use std::{fmt, path::Path, thread};

use caller::Caller;
use support::{Cluster, TestLab, eventually, turn};

const BOOTSTRAP: &str = "bootstrap";
const MASTERS: [&str; 3] = ["master-01", "master-02", "master-03"];
const WORKER: &str = "worker-01";
/// Of the cluster that is left in the end.
const NODES: [&str; 4] = ["master-01", "master-02", "master-03", "worker-01"];

/// The steps of the bootstrap node that others can notice, in their order. Those before `masters-present` come before there is a
/// master, those from `etcd-scaled` on when the masters have a majority in etcd without it.
const STEPS: &[&str] = &[
    "split-brain-guard",
    "cluster-keys",
    "pki",
    "kubelet",
    "etcd-pod",
    "kube-apiserver-pod",
    "api-ready",
    "roles",
    "cluster-operators",
    "node-ready",
    "masters-present",
    "etcd-announced",
    "etcd-scaled",
    "masters-ready",
    "hand-over",
    "controllers-released",
    "api-released",
    "etcd-left",
    "bootstrap-complete",
    "node-retired",
    "keys-erased",
];
/// The steps of a master in which it changes something that others count with.
const STEPS_OF_A_MASTER: &[&str] = &[
    "split-brain-guard",
    "cluster-keys",
    "pki",
    "etcd-join",
    "etcd",
    "etcd-vote",
    "kube-apiserver",
    "api-ready",
    "kubelet",
    "node-ready",
    "kube-controller-manager",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Kill,
    PowerLoss,
    /// The power is cut, and the machine comes back with an empty disk.
    LostDisk,
    /// The power is cut for good; a master removes it.
    Dead,
}

/// Which machine is ended, and where.
#[derive(Debug, Clone, Copy)]
struct Case {
    machine: &'static str,
    step: &'static str,
    ending: Ending,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match self.ending {
            Ending::Kill => "SIGKILL",
            Ending::PowerLoss => "power loss",
            Ending::LostDisk => "disk lost",
            Ending::Dead => "dead for good",
        };
        write!(f, "{}: {} ended, {ending}", self.machine, self.step)
    }
}

fn all() -> Vec<Case> {
    let at = |name: &str| STEPS.iter().position(|step| *step == name).unwrap();
    let on = |machine, ending, steps: &[&'static str]| -> Vec<Case> {
        steps.iter().map(|step| Case { machine, step, ending }).collect()
    };
    [
        on(BOOTSTRAP, Ending::Kill, STEPS),
        on(BOOTSTRAP, Ending::PowerLoss, STEPS),
        on(BOOTSTRAP, Ending::LostDisk, &STEPS[..at("masters-present")]),
        on(BOOTSTRAP, Ending::Dead, &STEPS[at("etcd-scaled")..at("node-retired")]),
        on(MASTERS[1], Ending::Kill, STEPS_OF_A_MASTER),
        on(MASTERS[1], Ending::PowerLoss, STEPS_OF_A_MASTER),
    ]
    .concat()
}

#[test]
fn masters_take_a_cluster_over() {
    let _turn = turn();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pivot");
    let lab = TestLab::unmade();
    lab.run("up", &["--machines-only", "--config", &config.display().to_string()]).ok();
    let cluster = Cluster::seal(lab);
    let all = all();
    // Neighbours are far apart.
    let of_the_seed = |seed: usize| all[(seed * 37) % all.len()];
    cases::play_all("pivot", &all, of_the_seed, |case| play(&cluster, case), || evidence(&cluster));
    cluster.check(&[checks::CHECKS]);
}

/// From machines that are nothing to a cluster without its bootstrap node.
fn play(cluster: &Cluster, case: &Case) -> Option<String> {
    start_over(cluster);
    arm(cluster, case);
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
        } else {
            eventually("the masters have taken over", || cluster.is_up(BOOTSTRAP));
        }
        cluster.sh(MASTERS[0], "blackstart bootstrap wait --timeout 1m");
        cluster.await_ready(&NODES);
        no_write_is_lost(caller);
        match at {
            Struck::Known(at) => at,
            Struck::Coming(struck) => struck.join().unwrap(),
        }
    })
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
fn install(cluster: &Cluster, machine: &str) {
    if (support::seed() / 2).is_multiple_of(2) {
        ignition::install(cluster, machine);
    } else {
        cluster.install(&cluster.sealed_dir(machine), machine);
    }
}

/// Good for this boot of the machine only.
fn arm(cluster: &Cluster, case: &Case) {
    let word = if case.ending == Ending::Kill { "kill" } else { "halt" };
    let dir = "/run/systemd/system/cluster-bootstrap.service.d";
    let fault = format!("[Service]\\nEnvironment=BLACKSTART_FAULT={}:ended:{word}\\nRestartSec=1s\\n", case.step);
    cluster.sh(case.machine, &format!("mkdir -p {dir} && printf '{fault}' > {dir}/fault.conf"));
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
            ignition::lab(cluster, "wipe", &["--yes", machine]);
            ignition::switch_on(cluster);
            install(cluster, machine);
        }
        Ending::Dead => ignition::lab(cluster, "kill", &[machine]),
    }
    Some(at)
}

fn evidence(cluster: &Cluster) -> String {
    let line = "blackstart node status; journalctl --no-pager -u cluster-bootstrap -u bootkube -n 40";
    cluster.try_sh(BOOTSTRAP, line).out
}
