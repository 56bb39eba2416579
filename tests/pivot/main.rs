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

/// The steps of the bootstrap node that others can notice, in their order.
const STEPS: &[&str] = &[
    "split-brain-guard",
    "cluster-keys",
    "pki",
    "kubelet",
    "etcd-pod",
    "kube-apiserver-pod",
    "api-ready",
    "roles",
    "node-ready",
    "masters-ready",
    "hand-over",
    "controllers-released",
    "api-released",
    "etcd-left",
    "bootstrap-complete",
    "node-retired",
    "keys-erased",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Kill,
    PowerLoss,
}

/// Where the bootstrap node is ended.
#[derive(Debug, Clone, Copy)]
struct Case {
    step: &'static str,
    ending: Ending,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match self.ending {
            Ending::Kill => "SIGKILL",
            Ending::PowerLoss => "power loss",
        };
        write!(f, "{} ended, {ending}", self.step)
    }
}

#[test]
fn masters_take_a_cluster_over() {
    let _turn = turn();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/pivot");
    let lab = TestLab::unmade();
    lab.run("up", &["--machines-only", "--config", &config.display().to_string()]).ok();
    let cluster = Cluster::seal(lab);
    let with = |ending| STEPS.iter().map(move |step| Case { step, ending });
    let all: Vec<Case> = with(Ending::Kill).chain(with(Ending::PowerLoss)).collect();
    // One commit of two has a SIGKILL, the other one a power loss; neighbours have steps far apart.
    let of_the_seed = |seed: usize| all[(seed % 2) * STEPS.len() + (seed * 7) % STEPS.len()];
    cases::play_all("pivot", &all, of_the_seed, |case| play(&cluster, case), || evidence(&cluster));
    cluster.check(&[checks::CHECKS]);
}

/// From machines that are nothing to a cluster without its bootstrap node.
fn play(cluster: &Cluster, case: &Case) -> Option<String> {
    start_over(cluster);
    let word = if case.ending == Ending::Kill { "kill" } else { "halt" };
    let dir = "/run/systemd/system/cluster-bootstrap.service.d";
    let fault = format!("[Service]\\nEnvironment=BLACKSTART_FAULT={}:ended:{word}\\nRestartSec=1s\\n", case.step);
    cluster.sh(BOOTSTRAP, &format!("mkdir -p {dir} && printf '{fault}' > {dir}/fault.conf"));
    thread::scope(|scope| {
        let struck = scope.spawn(|| strike(cluster, case.ending));
        install(cluster, BOOTSTRAP);
        install(cluster, WORKER);
        // As the documents of this kind have it: masters are switched on when there is an API.
        let local = "kubectl --kubeconfig /etc/kubernetes/kubeconfigs/localhost.kubeconfig --request-timeout 5s";
        eventually("the bootstrap node has a cluster", || {
            cluster.try_sh(BOOTSTRAP, &format!("{local} get node {WORKER}")).code == Some(0)
        });
        let caller = Caller::begin_as(cluster, BOOTSTRAP);
        for master in MASTERS {
            install(cluster, master);
        }
        eventually("the masters have taken over", || cluster.is_up(BOOTSTRAP));
        cluster.await_ready(&NODES);
        let longest = caller.goes_on(1);
        let refused = caller.refused();
        let (acknowledged, lost) = caller.end();
        eprintln!(
            "  {acknowledged} writes were acknowledged, {} of them are lost; longest time without one: {longest} ms; \
             {} calls were refused",
            lost.len(),
            refused.len()
        );
        assert!(lost.is_empty(), "{lost:?}");
        struck.join().unwrap()
    })
}

/// Machines with empty disks that have booted; the first time they are that already.
fn start_over(cluster: &Cluster) {
    if cluster.try_sh(BOOTSTRAP, "test -e /var/lib/cluster-state").code == Some(0) {
        let all = [&["--yes", BOOTSTRAP], &NODES[..]].concat();
        cluster.lab.run("wipe", &all).ok();
        cluster.lab.run("up", &["--machines-only"]).ok();
    }
}

fn install(cluster: &Cluster, machine: &str) {
    cluster.install(&cluster.sealed_dir(machine), machine);
}

/// Waits for the instant, and says where it was. A process whose power is to be cut has only stopped until then.
fn strike(cluster: &Cluster, ending: Ending) -> Option<String> {
    let mut at = String::new();
    eventually("the bootstrap node has met its end", || {
        cluster.try_sh(BOOTSTRAP, "cat /run/blackstart-fault").out.trim().clone_into(&mut at);
        !at.is_empty() || cluster.is_up(BOOTSTRAP)
    });
    if ending == Ending::PowerLoss && !at.is_empty() {
        cluster.lab.run("kill", &[BOOTSTRAP]).ok();
        cluster.lab.run("up", &["--machines-only"]).ok();
    }
    (!at.is_empty()).then_some(at)
}

fn evidence(cluster: &Cluster) -> String {
    let line = "blackstart node status; journalctl --no-pager -u cluster-bootstrap -n 40";
    cluster.try_sh(BOOTSTRAP, line).out
}
