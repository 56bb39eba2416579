//! A cluster by `blackstart node up`, from a sealed configuration.

use std::{process::Command, time::Duration};

use crate::{
    Times, floor,
    machines::{MASTER, Machines, PROGRAM, WORKER},
    outside::{api_ready, from_outside, node_ready, nodes_ready},
    running::Running,
    starting_point::{self, wait_until_quiet},
    steps::{self, Span},
};

/// Everything one round shows about us.
pub(crate) struct Round {
    pub(crate) times: Times,
    pub(crate) master_steps: Vec<Span>,
    pub(crate) worker_steps: Vec<Span>,
    /// Of the agent on the worker, resident, in megabytes.
    pub(crate) agent_memory: f64,
    /// etcd and the API server alone, until the API server is ready.
    pub(crate) floor: Duration,
}

pub(crate) fn round() -> Round {
    let machines = starting_point::machines(1, 1);
    install(&machines);
    wait_until_quiet();
    let address = machines.address(MASTER);

    let mut up = machines.start(MASTER, &["blackstart", "node", "up", "-o", "json"]);
    let api = api_ready(address, &mut up);
    let kubeconfig = from_outside(&machines.read(MASTER, "/etc/kubernetes/super-admin.conf"), address);
    let master = node_ready(&kubeconfig, MASTER, &mut up);
    let master_steps = steps::read(up.began_at, &up.finish());

    wait_until_quiet();
    let mut up = machines.start(WORKER, &["blackstart", "node", "up", "-o", "json"]);
    let worker = node_ready(&kubeconfig, WORKER, &mut up);
    let worker_steps = steps::read(up.began_at, &up.finish());

    wait_until_quiet();
    let agent_memory = agent_memory(&machines);
    let floor = floor::measure(&machines);
    Round { times: Times { api, master, worker }, master_steps, worker_steps, agent_memory, floor }
}

/// All machines at the same moment, until the last of them is a Ready node.
pub(crate) fn all_at_once(masters: u8, workers: u8) -> Duration {
    let machines = starting_point::machines(masters, workers);
    install(&machines);
    wait_until_quiet();
    let up = |machine: &&str| machines.start(machine, &["blackstart", "node", "up"]);
    let mut running: Vec<Running> = machines.names().iter().map(up).collect();
    api_ready(machines.address(MASTER), &mut running[0]);
    let kubeconfig = from_outside(&machines.read(MASTER, "/etc/kubernetes/super-admin.conf"), machines.address(MASTER));
    let taken = nodes_ready(&kubeconfig, &machines.names(), &mut running[0]);
    for one in running {
        one.finish();
    }
    taken
}

/// Workers that join a cluster which is there, at the same moment, until the last of them is a Ready node.
pub(crate) fn workers_at_once(workers: u8) -> Duration {
    let machines = starting_point::machines(1, workers);
    install(&machines);
    machines.sh(MASTER, "blackstart node up");
    let kubeconfig = from_outside(&machines.read(MASTER, "/etc/kubernetes/super-admin.conf"), machines.address(MASTER));
    wait_until_quiet();
    let up = |machine: &&str| machines.start(machine, &["blackstart", "node", "up"]);
    let mut running: Vec<Running> = machines.workers().iter().map(up).collect();
    let taken = nodes_ready(&kubeconfig, &machines.workers(), &mut running[0]);
    for one in running {
        one.finish();
    }
    taken
}

/// What is done to a machine once, before it becomes a node.
pub(crate) fn install(machines: &Machines) {
    let sealed = tempfile::tempdir().unwrap();
    let mut seal = Command::new(PROGRAM);
    seal.args(["config", "seal", &machines.config_dir(), "--out"]).arg(sealed.path());
    let output = seal.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for machine in machines.names() {
        machines.copy(&sealed.path().join(machine), machine, "/root");
        machines.sh(machine, &format!("blackstart node install --config /root/{machine}"));
    }
}

#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
fn agent_memory(machines: &Machines) -> f64 {
    let pid = machines.sh(WORKER, "systemctl show --property MainPID --value blackstart-agent");
    let status = machines.sh(WORKER, &format!("cat /proc/{pid}/status"));
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the agent runs");
    let kibibytes: u64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
    (kibibytes * 1024) as f64 / 1e6
}
