//! A cluster of lab machines, and the checks that are made on it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use nodekit::run_record::{Outcome, Purpose, RunRecord};
use serde_json::Value;

use super::{CommandOutput, TestLab, eventually};

/// Something that must be true of a cluster, and what it is called when it is not.
pub(crate) type Check = (&'static str, fn(&Cluster));

/// Seconds after which a command in a machine is ended: a test that fails is better than one that hangs.
const DEADLINE: &str = "240";

/// A lab that is a cluster, or is about to become one.
pub(crate) struct Cluster {
    pub(crate) lab: TestLab,
}

impl Cluster {
    /// The machines of the default shape.
    pub(crate) const MACHINES: [&str; 3] = ["master-01", "worker-01", "worker-02"];
    /// Those that are no masters.
    pub(crate) const WORKERS: [&str; 2] = ["worker-01", "worker-02"];

    /// `lab up`, as a person types it first.
    pub(crate) fn up() -> Self {
        let lab = TestLab::unmade();
        lab.run("up", &[]).ok();
        Self { lab }
    }

    /// Makes all checks, or those that `CHECKS` names, and fails at the end if one did.
    pub(crate) fn check(&self, lists: &[&[Check]]) {
        let wanted = std::env::var("CHECKS").unwrap_or_default();
        let is_wanted = |(name, _): &&Check| wanted.split('|').any(|part| name.contains(part));
        let mut failed = Vec::new();
        for (name, check) in lists.iter().copied().flatten().filter(is_wanted) {
            let started = Instant::now();
            let ended = catch_unwind(AssertUnwindSafe(|| check(self)));
            eprintln!(
                "{name}: {} ({:.1} s)",
                if ended.is_ok() { "ok" } else { "FAILED" },
                started.elapsed().as_secs_f64()
            );
            if ended.is_err() {
                failed.push(*name);
            }
        }
        assert!(failed.is_empty(), "failed, see above: {failed:#?}");
    }

    /// What a line of shell in a machine prints.
    #[track_caller]
    pub(crate) fn sh(&self, machine: &str, line: &str) -> String {
        self.try_sh(machine, line).ok().trim().to_owned()
    }

    /// The same, whatever becomes of it.
    pub(crate) fn try_sh(&self, machine: &str, line: &str) -> CommandOutput {
        self.lab.run("exec", &[machine, "--", "timeout", DEADLINE, "sh", "-c", line])
    }

    /// `kubectl` on the first master.
    pub(crate) fn try_kubectl(&self, arguments: &[&str]) -> CommandOutput {
        self.lab.run("exec", &[&["master-01", "--", "timeout", DEADLINE, "kubectl"], arguments].concat())
    }

    /// What `kubectl` prints.
    #[track_caller]
    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        self.try_kubectl(arguments).ok().trim().to_owned()
    }

    /// The items of `kubectl get`.
    #[track_caller]
    pub(crate) fn get(&self, arguments: &[&str]) -> Vec<Value> {
        let list = self.kubectl(&[&["get", "-o", "json"], arguments].concat());
        let list: Value = serde_json::from_str(&list).unwrap();
        list["items"].as_array().unwrap().clone()
    }

    /// Applies a manifest.
    #[track_caller]
    pub(crate) fn apply(&self, manifest: &str) {
        self.lab.feed("exec", &["master-01", "--", "kubectl", "apply", "-f", "-"], manifest.as_bytes()).ok();
    }

    /// The Nodes that are Ready in the boot their machine is in now.
    pub(crate) fn ready(&self) -> Vec<String> {
        let nodes = self.try_kubectl(&["get", "nodes", "-o", "json"]);
        let list: Value = serde_json::from_str(&nodes.out).unwrap_or_default();
        let nodes = list["items"].as_array().into_iter().flatten();
        let name = |node: &Value| text(&node["metadata"]["name"]);
        nodes
            .filter(|node| is_ready(node) && node["status"]["nodeInfo"]["bootID"] == self.lab.boot(&name(node)))
            .map(name)
            .collect()
    }

    /// Waits until exactly these Nodes are there and Ready.
    #[track_caller]
    pub(crate) fn await_ready(&self, names: &[&str]) {
        eventually(&format!("{names:?} are Ready"), || self.ready() == names);
        assert_eq!(self.get(&["nodes"]).len(), names.len());
    }

    /// A machine's address.
    pub(crate) fn ip(&self, machine: &str) -> String {
        text(&self.lab.machine(machine)["ip"])
    }

    /// The address of this computer in the lab's network.
    pub(crate) fn host_ip(&self) -> String {
        text(&self.lab.status()["subnet"]).replace("0/24", "1")
    }

    /// The last bootstrap of a machine, as its record has it.
    pub(crate) fn last_up(&self, machine: &str) -> Option<RunRecord> {
        let files = self.try_sh(machine, "cat /var/lib/cluster-state/runs/*.json").out;
        let records = serde_json::Deserializer::from_str(&files).into_iter::<RunRecord>().map_while(Result::ok);
        records.filter(|record| record.purpose == Purpose::Up).max_by_key(|record| record.started)
    }

    /// Whether a machine's last bootstrap is done.
    pub(crate) fn is_up(&self, machine: &str) -> bool {
        self.last_up(machine).is_some_and(|run| run.outcome == Outcome::Done)
    }

    /// What a unit of a machine has logged.
    pub(crate) fn journal(&self, machine: &str, unit: &str) -> String {
        self.sh(machine, &format!("journalctl --no-pager -o cat -u {unit}"))
    }
}

/// A JSON string as it is.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn is_ready(node: &Value) -> bool {
    let mut conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}
