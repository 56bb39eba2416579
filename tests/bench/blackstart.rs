//! A cluster by `blackstart node up`, from a sealed configuration.

use std::{process::Command, time::Duration};

use crate::{
    Times, floor,
    machines::{BOTH, MASTER, Machines, PROGRAM, WORKER},
    outside::{api_ready, from_outside, node_ready},
    starting_point::{self, settle},
    steps::{self, Span},
};

/// Everything one round tells about us.
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
    let (machines, _) = starting_point::machines();
    install(&machines);
    settle();
    let address = machines.address(MASTER);

    let mut up = machines.start(MASTER, &["blackstart", "node", "up", "-o", "json"]);
    let api = api_ready(address, &mut up);
    let kubeconfig = from_outside(&machines.read(MASTER, "/etc/kubernetes/super-admin.conf"), address);
    let master = node_ready(&kubeconfig, MASTER, &mut up);
    let master_steps = steps::read(up.began_at, &up.finish());

    settle();
    let mut up = machines.start(WORKER, &["blackstart", "node", "up", "-o", "json"]);
    let worker = node_ready(&kubeconfig, WORKER, &mut up);
    let worker_steps = steps::read(up.began_at, &up.finish());

    settle();
    let agent_memory = agent_memory(&machines);
    let floor = floor::measure(&machines);
    Round { times: Times { api, master, worker }, master_steps, worker_steps, agent_memory, floor }
}

/// What is done to a machine once, before it becomes a node.
fn install(machines: &Machines) {
    let sealed = tempfile::tempdir().unwrap();
    let mut seal = Command::new(PROGRAM);
    seal.args(["config", "seal", &machines.config_dir(), "--out"]).arg(sealed.path());
    let output = seal.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for machine in BOTH {
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
