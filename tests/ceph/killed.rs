//! The bootstrap is killed in the middle of bootstrapping Ceph, and of joining it, and goes on by itself.
//!
//! The instants are those of the steps in a run's events. One of a join is played with one kind of commits, one of a bootstrap with the other.

use std::fmt;

use nodekit::run_record::{RunRecord, StepState};

use crate::{
    FIRST, LAST, MACHINES,
    cases::{is_turn, play_all},
    storage::{await_bootstrap, await_health, await_object, lose, store},
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] =
    &[("a machine that is killed while it joins Ceph, or while it bootstraps it, recovers", recovers)];

/// Each takes a minute or two before its first case: one of them at a time.
fn recovers(cluster: &Cluster) {
    if is_turn(0, 2) {
        joining(cluster);
    }
    if is_turn(1, 2) {
        bootstrapping(cluster);
    }
}

/// A step, and when in it.
#[derive(Debug, Clone)]
struct Case {
    step: String,
    when: &'static str,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.step, self.when)
    }
}

fn joining(cluster: &Cluster) {
    let sum = store(cluster);
    lose(cluster, LAST);
    begin(cluster, LAST, "");
    await_bootstrap(cluster, LAST);
    let cases = cases(&cluster.last_up(LAST).unwrap());
    let play = |case: &Case| {
        lose(cluster, LAST);
        begin(cluster, LAST, &format!("{}:{}:kill", case.step, case.when));
        let at = struck(cluster, LAST);
        await_whole(cluster);
        await_object(cluster, LAST, &sum);
        at
    };
    play_all("joining", &cases, |seed| cases[seed / 2 % cases.len()].clone(), play, || evidence(cluster));
}

fn bootstrapping(cluster: &Cluster) {
    let found = |fault: &str| {
        for machine in MACHINES {
            cluster.sh(machine, "systemctl stop cluster-bootstrap 'ceph-mon@*'");
        }
        // The machine on which numbers of OSDs would be given back goes first: there is no monitor left to take them.
        for machine in MACHINES {
            forget(cluster, machine);
        }
        cluster.kubectl(&["-n", "kube-system", "delete", "secret", "blackstart-ceph", "--ignore-not-found"]);
        for machine in MACHINES {
            begin(cluster, machine, if machine == FIRST { fault } else { "" });
        }
    };
    found("");
    await_bootstrap(cluster, FIRST);
    let cases = cases(&cluster.last_up(FIRST).unwrap());
    let play = |case: &Case| {
        found(&format!("{}:{}:kill", case.step, case.when));
        let at = struck(cluster, FIRST);
        await_whole(cluster);
        at
    };
    play_all("bootstrapping", &cases, |seed| cases[seed / 2 % cases.len()].clone(), play, || evidence(cluster));
}

/// Before, within and after every step of Ceph that changed something, while it waited, and after those that only looked.
fn cases(run: &RunRecord) -> Vec<Case> {
    let mut all = Vec::new();
    for step in run.steps.iter().filter(|step| step.id.starts_with("ceph-")) {
        let mut add = |when| all.push(Case { step: step.id.clone(), when });
        if step.state == StepState::Done {
            add("before-1");
            add("within-1");
        }
        if !step.waits.is_empty() {
            add("waiting");
        }
        add("ended");
    }
    assert!(all.len() > 15, "a run reports its steps: {all:?}");
    all
}

/// Lets a machine begin, to be killed where the fault says.
fn begin(cluster: &Cluster, machine: &str, fault: &str) {
    let dir = "/run/systemd/system/cluster-bootstrap.service.d";
    let settings = format!("[Service]\\nEnvironment=BLACKSTART_FAULT={fault}\\nRestartSec=1s\\n");
    let settings = if fault.is_empty() { "[Service]\\nRestartSec=1s\\n".to_owned() } else { settings };
    cluster.sh(
        machine,
        &format!(
            "rm -f /run/blackstart-fault; mkdir -p {dir}; printf '{settings}' > {dir}/fault.conf
             systemctl daemon-reload && systemctl start --no-block cluster-bootstrap"
        ),
    );
}

/// Where the bootstrap was killed; `None` if it was done before.
fn struck(cluster: &Cluster, machine: &str) -> Option<String> {
    let mut at = String::new();
    eventually(&format!("{machine} has met its end, or is done"), || {
        cluster.try_sh(machine, "cat /run/blackstart-fault").out.trim().clone_into(&mut at);
        !at.is_empty() || cluster.try_sh(machine, "systemctl is-active -q cluster-bootstrap").code == Some(0)
    });
    (!at.is_empty()).then_some(at)
}

/// Everything works, and another run finds nothing to change.
fn await_whole(cluster: &Cluster) {
    for machine in MACHINES {
        await_bootstrap(cluster, machine);
    }
    await_health(cluster);
    for machine in MACHINES {
        let output = cluster.node_up(machine, "").ok();
        assert!(output.contains("nothing was changed"), "{machine}: {output}");
    }
}

/// Like [`lose`], where no monitor is left that knows of the machine's OSDs.
fn forget(cluster: &Cluster, machine: &str) {
    cluster
        .sh(machine, "rm -rf /var/lib/ceph-osd; systemctl stop 'ceph-mgr@*' 'ceph-osd@*'; rm -rf /var/lib/ceph/osd/*");
    lose(cluster, machine);
}

fn evidence(cluster: &Cluster) -> String {
    let line = "timeout 20 ceph health detail; timeout 20 ceph status; cat /var/lib/cluster-state/progress.json; echo; systemctl --failed --no-legend --plain; \
                journalctl -o short-precise --no-pager -u cluster-bootstrap -u 'ceph-*' -n 60";
    [FIRST, LAST].map(|machine| format!("{machine}:\n{}", cluster.try_sh(machine, line).out)).concat()
}
