//! A machine that becomes a node, is stopped at an instant, goes on by itself, and is compared with one that was not.

use std::time::Instant;

use serde_json::Value;

use crate::{
    cases::{Case, Ending},
    fingerprint::{Fingerprint, differences},
    support::{CommandOutput, TestLab, run},
};

const MASTER: &str = "master-01";
/// Shows where a run was stopped.
const MARK: &str = "/run/blackstart-fault";
/// Seconds for anything in a machine; the computer may be building something at the same time.
const DEADLINE: &str = "300";

/// The machines, and which of them is made again for every case.
pub(crate) struct Ground {
    pub(crate) lab: TestLab,
    masters: u8,
    workers: u8,
    subject: &'static str,
}

/// What an undisturbed run is like.
pub(crate) struct Reference {
    pub(crate) events: Vec<Value>,
    pub(crate) fingerprint: Fingerprint,
}

impl Ground {
    /// One machine, which starts the cluster.
    pub(crate) fn first_master() -> Self {
        Self::new(1, 0, MASTER)
    }

    /// Two masters that stay, and a machine that joins them. From the second case on it is one that had a place in etcd and
    /// lost its disk.
    pub(crate) fn additional_master() -> Self {
        let ground = Self::new(3, 0, "master-03");
        for master in [MASTER, "master-02"] {
            ground.install(master, "");
        }
        // They bootstrap etcd with those that are there; the third only boots, so they give it a minute.
        for master in [MASTER, "master-02"] {
            ground.await_node(master).ok();
        }
        ground
    }

    /// A master that stays, and a machine that joins it.
    pub(crate) fn worker() -> Self {
        let ground = Self::new(1, 1, "worker-01");
        ground.install(MASTER, "");
        ground.await_node(MASTER).ok();
        ground
    }

    fn new(masters: u8, workers: u8, subject: &'static str) -> Self {
        let lab = TestLab::with(masters, workers);
        let [config, out] = ["config", "sealed"].map(|name| lab.dir().join(name).display().to_string());
        run(crate::support::PROGRAM, &["config", "seal", &config, "--out", &out]).ok();
        Self { lab, masters, workers, subject }
    }

    /// What happens, and what there is in the end, when nothing interferes.
    pub(crate) fn reference(&self) -> Reference {
        self.renew();
        let json = |command: &str| format!("ExecStart=\nExecStart=/usr/local/bin/blackstart node {command} -o json\n");
        self.drop_in("cluster-detect", &json("detect"));
        self.drop_in("cluster-bootstrap", &json("up"));
        self.install(self.subject, "");
        self.await_node(self.subject).ok();
        let log = self.sh("journalctl -o cat --no-pager -u cluster-detect -u cluster-bootstrap");
        let events = log.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap());
        Reference { events: events.collect(), fingerprint: self.stable_fingerprint(self.subject) }
    }

    /// Plays a case. `None` if its instant did not come this time; an error says what went wrong.
    pub(crate) fn play(&self, case: &Case, reference: &Reference) -> Result<Option<Played>, String> {
        let started = Instant::now();
        self.renew();
        let fault = format!("Environment=BLACKSTART_FAULT={}\n", case.variable());
        self.drop_in("cluster-detect", &fault);
        self.drop_in("cluster-bootstrap", &format!("{fault}RestartSec=1s\n"));
        self.install(self.subject, "");
        let done = "systemctl is-active -q cluster-bootstrap";
        let hit = format!("until test -s {MARK} || {done}; do sleep 0.1; done; cat {MARK}");
        let at = self.within(self.subject, &hit);
        if at.code != Some(0) {
            // What is waited for depends on how long things take.
            let may_pass = case.instant.when == "waiting" && self.within(self.subject, done).code == Some(0);
            return if may_pass { Ok(None) } else { Err(format!("the instant never came\n{}", self.evidence())) };
        }
        let at = at.out.trim().to_owned();
        if case.ending == Ending::PowerLoss {
            self.lab.run("kill", &[self.subject]).ok();
            // It waits until the machine is up, which it is when it is a node; whether it is, is asked below.
            self.up();
        }
        let made = started.elapsed().as_secs_f64();
        if self.await_node(self.subject).code != Some(0) {
            return Err(format!("at `{}`: it did not become a node again\n{}", at, self.evidence()));
        }
        // It is not started again by itself, so that a machine without a network can be logged in to.
        self.sh("systemctl is-failed -q cluster-detect && systemctl restart cluster-detect || true");
        let found = self.fingerprint_like(self.subject, &reference.fingerprint);
        let differences = differences(&reference.fingerprint, &found);
        if !differences.is_empty() {
            return Err(format!("at `{}`: not as an undisturbed run:\n{differences}{}", at, self.evidence()));
        }
        let again = self.within(self.subject, "blackstart node up");
        if !again.out.contains("nothing was changed") {
            return Err(format!("at `{}`: another run changed something:\n{}{}", at, again.err, again.out));
        }
        Ok(Some(Played { at, until_hit: made, whole: started.elapsed().as_secs_f64() }))
    }

    /// The machine as it was before it ever booted, booted.
    fn renew(&self) {
        if self.subject != MASTER {
            self.master_sh(&format!("kubectl delete node {} --ignore-not-found", self.subject));
        }
        if self.subject.starts_with("master") && self.subject != MASTER {
            // The cluster's keys go to one machine of a name; this one has never had them to begin with.
            self.master_sh(&format!("blackstart node rearm {} || true", self.subject));
        }
        self.lab.run("wipe", &["--yes", self.subject]).ok();
        self.up().ok();
    }

    fn up(&self) -> CommandOutput {
        self.lab.up(self.masters, self.workers)
    }

    /// Settings for a unit that end with the boot.
    fn drop_in(&self, unit: &str, settings: &str) {
        let dir = format!("/run/systemd/system/{unit}.service.d");
        self.sh(&format!("mkdir -p {dir} && printf '%s' '[Service]\n{settings}' > {dir}/recovery.conf"));
    }

    /// Makes the machine a node, as on metal.
    fn install(&self, machine: &str, options: &str) {
        let sealed = self.lab.dir().join("sealed").join(machine).display().to_string();
        self.lab.run("cp", &[&sealed, &format!("{machine}:/root")]).ok();
        let line = format!("blackstart node install --now --config /root/{machine} {options} && rm -r /root/{machine}");
        self.within(machine, &line).ok();
    }

    fn await_node(&self, machine: &str) -> CommandOutput {
        self.within(machine, "until systemctl is-active -q cluster-bootstrap; do sleep 0.2; done")
    }

    /// A line of shell, ended when it takes too long.
    pub(crate) fn within(&self, machine: &str, line: &str) -> CommandOutput {
        self.lab.run("exec", &[machine, "--", "timeout", DEADLINE, "sh", "-c", line])
    }

    #[track_caller]
    fn sh(&self, line: &str) -> String {
        self.within(self.subject, line).ok()
    }

    /// What a line of shell on the master prints.
    #[track_caller]
    pub(crate) fn master_sh(&self, line: &str) -> String {
        self.within(MASTER, line).ok()
    }

    fn evidence(&self) -> String {
        let output = self.within(
            self.subject,
            "cat /var/lib/cluster-state/progress.json; echo; systemctl --failed --no-legend --plain; \
             journalctl -o short-precise --no-pager -u cluster-bootstrap -u cluster-detect -n 60",
        );
        format!("{}{}", output.out, output.err)
    }
}

/// How a case went.
pub(crate) struct Played {
    /// Where the run was.
    pub(crate) at: String,
    /// Seconds until the run was stopped and, after a power loss, the machine was up again.
    pub(crate) until_hit: f64,
    /// Seconds for all of it.
    pub(crate) whole: f64,
}
