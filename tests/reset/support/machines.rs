//! The machines, and what is done with them.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use super::{
    CommandOutput, Picture,
    common::{PROGRAM, TestLab, eventually, run},
};

pub(crate) const MASTER: &str = "master-01";
pub(crate) const WORKER: &str = "worker-01";

/// Something that must be true, and what it is called when it is not.
pub(crate) type Check = (&'static str, fn(&Machines));

/// Seconds after which a command in a machine is ended: a test that fails is better than one that hangs.
const DEADLINE: &str = "240";

const IMAGE: &str = include_str!("../../cluster/support/probe-image.sh");
const PODS: &str = include_str!("pods.yaml");

/// A master and a worker that are nothing yet, with a sealed directory each.
pub(crate) struct Machines {
    pub(crate) lab: TestLab,
    before: BTreeMap<&'static str, Picture>,
}

impl Machines {
    pub(crate) fn new() -> Self {
        let lab = TestLab::with(1, 1);
        let [config, sealed] = ["config", "sealed"].map(|name| lab.dir().join(name).display().to_string());
        run(PROGRAM, &["config", "seal", &config, "--out", &sealed]).ok();
        let archive = lab.dir().join("probe.tar").display().to_string();
        run("sh", &["-euc", IMAGE, "sh", &archive]).ok();
        for machine in [MASTER, WORKER] {
            lab.run("cp", &[&format!("{sealed}/{machine}"), &format!("{machine}:/root")]).ok();
            lab.run("cp", &[&archive, &format!("{machine}:/root")]).ok();
            lab.sh(machine, &format!("mv /root/{machine} /root/sealed"));
        }
        let before = [MASTER, WORKER].map(|machine| (machine, Picture::of(&lab, machine))).into();
        Self { lab, before }
    }

    /// Makes all checks and fails at the end if one did.
    pub(crate) fn check(&self, lists: &[&[Check]]) {
        let mut failed = Vec::new();
        for (name, check) in lists.iter().copied().flatten() {
            let started = Instant::now();
            let ended = catch_unwind(AssertUnwindSafe(|| check(self)));
            let word = if ended.is_ok() { "ok" } else { "FAILED" };
            eprintln!("{name}: {word} ({:.1} s)", started.elapsed().as_secs_f64());
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

    /// What `kubectl` on the master prints.
    #[track_caller]
    pub(crate) fn kubectl(&self, arguments: &str) -> String {
        self.sh(MASTER, &format!("kubectl {arguments}"))
    }

    /// Installs both and lets them become nodes, as a person does.
    #[track_caller]
    pub(crate) fn up(&self) {
        for machine in [MASTER, WORKER] {
            self.install(machine);
        }
        self.await_ready(&[MASTER, WORKER]);
    }

    /// `node install --now`.
    #[track_caller]
    pub(crate) fn install(&self, machine: &str) {
        self.sh(machine, "blackstart node install --now --config /root/sealed");
    }

    /// Waits until exactly these are Ready, and their bootstrap has ended.
    #[track_caller]
    pub(crate) fn await_ready(&self, names: &[&str]) {
        let ready = "kubectl get nodes --no-headers | awk '$2 == \"Ready\" { print $1 }'";
        eventually(&format!("{names:?} are Ready"), || {
            self.try_sh(MASTER, ready).out.split_whitespace().eq(names.iter().copied())
        });
        for name in names {
            eventually("the bootstrap has ended", || {
                self.try_sh(name, "systemctl is-active cluster-bootstrap").out.trim() == "active"
            });
        }
    }

    /// Pods with volumes, ports and a service on both.
    #[track_caller]
    pub(crate) fn run_pods(&self) {
        for machine in [MASTER, WORKER] {
            self.sh(machine, "ctr -n k8s.io images import --local /root/probe.tar");
        }
        self.lab.feed("exec", &[MASTER, "--", "kubectl", "apply", "-f", "-"], PODS.as_bytes()).ok();
        self.kubectl("rollout status daemonset/probe --timeout=3m");
        let answers = "curl -sS -m 5 http://$(hostname -I | cut -d ' ' -f 1):30080/cgi-bin/who";
        eventually("the service answers", || self.try_sh(WORKER, answers).out.contains("asked by"));
    }

    /// `node reset --yes`, whatever becomes of it.
    pub(crate) fn reset(&self, machine: &str, options: &str) -> CommandOutput {
        self.try_sh(machine, &format!("blackstart node reset --yes {options}"))
    }

    /// A reset to its end, after which nothing is left.
    #[track_caller]
    pub(crate) fn reset_cleanly(&self, machine: &'static str) -> String {
        let output = self.reset(machine, "--uninstall");
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(output.out.ends_with("nothing of blackstart is left on this machine\n"), "{output:?}");
        self.assert_as_before(machine);
        output.out
    }

    /// That a machine is as it was before it ever ran us.
    #[track_caller]
    pub(crate) fn assert_as_before(&self, machine: &'static str) {
        self.assert_as_before_but(machine, &[]);
    }

    /// The same, where other processes have done something meanwhile.
    #[track_caller]
    pub(crate) fn assert_as_before_but(&self, machine: &'static str, of_others: &[&str]) {
        let differences = self.before[machine].differences(&self.lab, machine, of_others);
        assert!(differences.is_empty(), "{machine}: {} differences:\n{}", differences.len(), differences.join("\n"));
    }
}
