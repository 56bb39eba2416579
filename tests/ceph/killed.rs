//! The bootstrap is killed in the middle of founding Ceph, and of joining it, and goes on by itself.
//!
//! The instants are those of the steps that a run has told of. Of each kind one is played, another every day;
//! `BLACKSTART_TEST_FULL=1` plays all of them, `BLACKSTART_TEST_SEED=N` the same ones again,
//! `BLACKSTART_TEST_ONLY='ceph-mon within'` those whose name holds that.

use std::{
    env, fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Instant, SystemTime},
};

use playbooks::run_record::{RunRecord, StepState};

use crate::{
    FIRST, LAST, MACHINES,
    storage::{await_bootstrap, await_health, await_object, lose, store},
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] = &[
    ("a machine that is killed while it joins Ceph recovers", joining),
    ("a machine that is killed while it founds Ceph recovers", founding),
];

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
    play_all("joining", cluster, &cases, |case| {
        lose(cluster, LAST);
        begin(cluster, LAST, &format!("{}:{}:kill", case.step, case.when));
        let at = struck(cluster, LAST);
        await_whole(cluster);
        await_object(cluster, LAST, &sum);
        at
    });
}

fn founding(cluster: &Cluster) {
    let found = |fault: &str| {
        for machine in MACHINES {
            cluster.sh(machine, "systemctl stop cluster-bootstrap 'ceph-mon@*'");
        }
        // The machine on which numbers of OSDs would be given back goes first: there is nobody left to take them.
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
    play_all("founding", cluster, &cases, |case| {
        found(&format!("{}:{}:kill", case.step, case.when));
        let at = struck(cluster, FIRST);
        await_whole(cluster);
        at
    });
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
    assert!(all.len() > 15, "a run tells of its steps: {all:?}");
    all
}

fn play_all(kind: &str, cluster: &Cluster, all: &[Case], play: impl Fn(&Case) -> Option<String>) {
    let chosen = chosen(all);
    assert!(!chosen.is_empty(), "no case is called that: {all:?}");
    let (mut recovered, mut failed) = (0, Vec::new());
    for case in &chosen {
        let started = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| play(case))) {
            Ok(Some(at)) => {
                recovered += 1;
                eprintln!("  {kind}: {case} (at `{at}`): recovered ({:.1} s)", started.elapsed().as_secs_f64());
            }
            Ok(None) => eprintln!("  {kind}: {case}: there was nothing to wait for this time"),
            Err(_) => {
                eprintln!("  {kind}: {case}: FAILED\n{}", evidence(cluster));
                failed.push(case.to_string());
            }
        }
    }
    eprintln!("  {kind}: recovered {recovered} of {} ({} in all)", recovered + failed.len(), all.len());
    assert!(failed.is_empty(), "{failed:#?}");
}

/// One of the day, unless told otherwise.
fn chosen(all: &[Case]) -> Vec<Case> {
    if let Ok(only) = env::var("BLACKSTART_TEST_ONLY") {
        return all.iter().filter(|case| case.to_string().contains(&only)).cloned().collect();
    }
    if env::var_os("BLACKSTART_TEST_FULL").is_some() {
        return all.to_vec();
    }
    let today = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / (24 * 60 * 60);
    let seed = env::var("BLACKSTART_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(today);
    eprintln!("  BLACKSTART_TEST_SEED={seed}");
    vec![all[usize::try_from(seed).unwrap() % all.len()].clone()]
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
        let said = cluster.node_up(machine, "").ok();
        assert!(said.contains("nothing was changed"), "{machine}: {said}");
    }
}

/// Like [`lose`], where nobody is left who knows of the machine's OSDs.
fn forget(cluster: &Cluster, machine: &str) {
    cluster
        .sh(machine, "rm -rf /var/lib/ceph-osd; systemctl stop 'ceph-mgr@*' 'ceph-osd@*'; rm -rf /var/lib/ceph/osd/*");
    lose(cluster, machine);
}

fn evidence(cluster: &Cluster) -> String {
    let line = "cat /var/lib/cluster-state/progress.json; echo; systemctl --failed --no-legend --plain; \
                journalctl -o short-precise --no-pager -u cluster-bootstrap -u 'ceph-*' -n 60";
    [FIRST, LAST].map(|machine| format!("{machine}:\n{}", cluster.try_sh(machine, line).out)).concat()
}
