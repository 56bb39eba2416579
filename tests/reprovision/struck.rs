//! Whatever dies, wherever: the node ends where it may, nothing is done twice, and nobody helps.

use std::{
    fmt,
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    MASTER, TURNS, WORKER,
    cases::play_all,
    held, machine, node, rhel,
    support::{Check, Cluster, eventually},
    untold,
};

pub(crate) const CHECKS: &[Check] =
    &[("rhel stand-in: the node, its unit, its pod or the controllers die in each phase, and it ends well", recovers)];

/// For a run in which the only API server, or the node, was away.
const END: Duration = Duration::from_mins(6);

/// What dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strike {
    /// The node loses its power, and boots again.
    Power,
    /// The same happens to the machine whose controller leads: that of the only API server, or the node itself.
    LeaderPower,
    /// The host's unit that is at work and all it has started, by SIGKILL.
    Unit,
    /// The pod of `ipb-daemonset`, by SIGKILL.
    Pod,
    /// All controllers at once, by SIGKILL.
    Controllers,
}

use Strike::{Controllers, LeaderPower, Pod, Power, Unit};

/// Where the run is, and what is there to die. The pod goes with the label; while the machine is down it has no unit; stage 2 is
/// done by the unit before the kubelet.
const MATRIX: [(&str, &[Strike]); 11] = [
    ("Pending", &[Power, LeaderPower, Unit, Pod, Controllers]),
    ("Cordoned", &[Power, LeaderPower, Unit, Pod, Controllers]),
    ("Preflight", &[Power, LeaderPower, Unit, Pod, Controllers]),
    ("Draining", &[Power, LeaderPower, Unit, Pod, Controllers]),
    ("Armed", &[Power, LeaderPower, Unit, Pod, Controllers]),
    ("Applying", &[Power, LeaderPower, Unit, Controllers]),
    ("Rebooting", &[Power, LeaderPower, Controllers]),
    ("Stage2", &[Power, LeaderPower, Unit, Controllers]),
    ("Gating", &[Power, LeaderPower, Unit, Controllers]),
    ("RollingBack", &[Power, LeaderPower, Unit, Controllers]),
    ("Restoring", &[Power, LeaderPower, Unit, Controllers]),
];

#[derive(Debug, Clone, Copy)]
struct Case {
    phase: &'static str,
    strike: Strike,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.phase, self.strike)
    }
}

impl Case {
    /// Nothing is changed on the node before it is committed.
    fn is_early(self) -> bool {
        ["Pending", "Cordoned", "Preflight", "Draining", "Armed"].contains(&self.phase)
    }

    /// Nobody can know what happened while the machine was down.
    fn is_down(self) -> bool {
        matches!(self.strike, Power | LeaderPower)
    }
}

fn recovers(cluster: &Cluster) {
    let of_phase = |(phase, strikes): (&'static str, &[Strike])| {
        strikes.iter().map(|strike| Case { phase, strike: *strike }).collect::<Vec<_>>()
    };
    let cases: Vec<Case> = MATRIX.into_iter().flat_map(of_phase).collect();
    let evidence = || {
        let object = cluster.try_kubectl(&["get", "nodeupgrade", WORKER, "-o", "yaml"]).out;
        let line = "journalctl --no-pager -o short-precise -u 'blackstart-reprovision*' -n 60";
        format!("{object}\n{}", cluster.try_sh(WORKER, line).out)
    };
    // This check has its turn with one seed of so many: only what is left of the seed chooses among all cases.
    let of_the_seed = |seed: usize| cases[seed / TURNS % cases.len()];
    play_all("in place", &cases, of_the_seed, |case| play(cluster, *case), evidence);
}

fn play(cluster: &Cluster, case: Case) -> Option<String> {
    held::nothing(cluster);
    rhel::afresh(cluster);
    let before = Before::set(cluster, case);
    match case.phase {
        "RollingBack" => drop(cluster.sh(WORKER, "touch /root/fail")),
        "Stage2" => drop(cluster.sh(WORKER, "touch /root/slow")),
        "Draining" => held::pod(cluster),
        "Restoring" => held::order(cluster),
        _ => {}
    }
    if matches!(case.strike, Controllers | LeaderPower) {
        fresh_controllers(cluster);
    }
    let attempt = begin(cluster, case);
    let at = reached(cluster, case.phase, attempt);
    let at = at.filter(|_| strike(cluster, case.strike));
    held::nothing(cluster);
    if case.phase == "Pending" {
        node::start(cluster);
    }
    let end = await_any_end(cluster, attempt);
    let is_expected = match (case.phase, &*end) {
        ("RollingBack", "RolledBack") => true,
        ("RollingBack", _) => false,
        (_, "Done") => true,
        (_, "Refused") => case.is_early() && case.is_down(),
        _ => false,
    };
    assert!(is_expected, "{end}: {:#}", node::object(cluster));
    assert_done_once(cluster, case, &end);
    before.assert_restored(cluster);
    untold::assert_untold(cluster);
    at
}

fn assert_done_once(cluster: &Cluster, case: Case, end: &str) {
    let stages = rhel::stages(cluster);
    if end != "Done" {
        assert_eq!(machine::packages(cluster), "shell-1 tool-1", "{stages:?}");
        assert!(end != "Refused" || stages.is_empty(), "nothing was changed: {stages:?}");
        return;
    }
    rhel::assert_upgraded(cluster);
    // A script that was killed in its middle is run again, and only that.
    let may_repeat = case.is_down() || case.strike == Unit;
    for (stage, phase) in [("stage 1", "Applying"), ("stage 2", "Stage2")] {
        let count = stages.iter().filter(|line| line.starts_with(stage)).count();
        // What is seen of a phase may be a moment old: the next stage may have begun.
        let is_struck = may_repeat && ["Armed", "Applying", "Rebooting", "Stage2"].contains(&case.phase);
        assert!(count == 1 || is_struck && count == 2, "{stage}, struck in {phase}: {stages:?}");
    }
}

/// What others had set on the Node.
struct Before {
    is_cordoned: bool,
}

impl Before {
    fn set(cluster: &Cluster, case: Case) -> Self {
        let is_cordoned = ["Preflight", "Gating", "Restoring"].contains(&case.phase);
        cluster.kubectl(&["label", "node", WORKER, "disk=fast", "--overwrite"]);
        cluster.kubectl(&["taint", "node", WORKER, "dedicated=db:PreferNoSchedule", "--overwrite"]);
        cluster.kubectl(&[if is_cordoned { "cordon" } else { "uncordon" }, WORKER]);
        Self { is_cordoned }
    }

    #[track_caller]
    fn assert_restored(&self, cluster: &Cluster) {
        let node = node::node(cluster);
        assert_eq!(node["spec"]["unschedulable"].as_bool().unwrap_or_default(), self.is_cordoned, "{node:#}");
        assert_eq!(node["metadata"]["labels"]["disk"], "fast", "{node:#}");
        let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        assert!(taints.iter().any(|taint| taint["key"] == "dedicated" && taint["value"] == "db"), "{node:#}");
        cluster.kubectl(&["uncordon", WORKER]);
        node::assert_given_back(cluster);
    }
}

/// A container that was killed before is started again later each time; and none is on the machine that serves payloads.
fn fresh_controllers(cluster: &Cluster) {
    held::away_from_server(cluster);
    for verb in ["restart", "status"] {
        cluster.kubectl(&["rollout", verb, "-n", "ipb-system", "deployment/ipb-controller"]);
    }
    eventually("a controller leads, and not where payloads are served", || {
        machine_of_leader(cluster).is_some_and(|machine| [MASTER, WORKER].contains(&machine.as_str()))
    });
}

fn machine_of_leader(cluster: &Cluster) -> Option<String> {
    let leases = cluster.get(&["lease", "-n", "ipb-system"]);
    let mut holders = leases.iter().filter_map(|lease| lease["spec"]["holderIdentity"].as_str());
    let leader = holders.find(|holder| holder.starts_with("ipb-controller-"))?;
    let line = ["get", "pod", "-n", "ipb-system", leader, "-o", "jsonpath={.spec.nodeName}"];
    Some(cluster.try_kubectl(&line).out.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Where the door or the unit is struck early, it has to be there first: the label comes before the Secret.
fn begin(cluster: &Cluster, case: Case) -> u64 {
    let is_first = case.phase == "Pending" || (case.is_early() && matches!(case.strike, Unit | Pod));
    if is_first {
        cluster.try_kubectl(&["delete", "nodeupgrade", WORKER, "--timeout=60s"]);
        cluster.try_kubectl(&["delete", "secret", "-n", "ipb-system", &format!("ipb-{WORKER}")]);
        cluster.kubectl(&["label", "node", WORKER, "ibm-cloud.kubernetes.io/ipb-schedule=true", "--overwrite"]);
        eventually("the node waits for its Secret, and its unit and its pod are there", || {
            node::object(cluster)["status"]["waitsFor"]["code"] == "BS-UPG-001"
                && cluster.try_sh(WORKER, &format!("pgrep -f '{POD}' && {UNIT_AT_WORK}")).code == Some(0)
        });
    }
    let attempt = node::attempt(cluster);
    if case.phase != "Pending" {
        node::start(cluster);
    }
    attempt
}

/// Waits for the phase; none if the run has ended without being seen there.
fn reached(cluster: &Cluster, phase: &str, attempt: u64) -> Option<String> {
    if phase == "Pending" {
        return Some(phase.to_owned());
    }
    if phase == "Stage2" {
        // Before its kubelet the node reports nothing: its own note says it.
        let until = Instant::now() + END;
        let is_there = || cluster.try_sh(WORKER, &format!("grep -q '\"at\":\"stage2\"' {NOTE}")).code == Some(0);
        while Instant::now() < until {
            if is_there() {
                return Some(phase.to_owned());
            }
        }
        return None;
    }
    let line = format!(
        "for try in $(seq 900); do
             set -- $(kubectl get nodeupgrade {WORKER} -o jsonpath='{{.status.attempt}} {{.status.phase}}' 2>/dev/null)
             [ \"${{1:-0}}\" -gt {attempt} ] || continue
             case $2 in {phase}) echo $2; exit ;; Done|Refused|RolledBack|Stuck) exit ;; esac
         done"
    );
    let seen = cluster.sh(MASTER, &line);
    (!seen.is_empty()).then_some(seen)
}

const NOTE: &str = "/var/lib/blackstart-reprovision/note.json";
const POD: &str = "reprovision pod$";
/// Sets `$unit` to the one of both that has a process.
const UNIT_AT_WORK: &str = "for unit in blackstart-reprovision-boot blackstart-reprovision none; do
     [ $(systemctl show -p MainPID --value $unit) -gt 0 ] && break
 done; [ $unit != none ]";

/// Whether it hit something.
fn strike(cluster: &Cluster, strike: Strike) -> bool {
    let hits = |machine: &str, line: &str| cluster.try_sh(machine, line).code == Some(0);
    match strike {
        Power => power_loss(cluster, WORKER),
        LeaderPower => {
            let Some(machine) = machine_of_leader(cluster) else { return false };
            eprintln!("  in place: the leading controller is on {machine}");
            power_loss(cluster, &machine)
        }
        Unit => hits(WORKER, &format!("{UNIT_AT_WORK} && systemctl kill --signal=KILL $unit")),
        Pod => hits(WORKER, &format!("pkill -KILL -f '{POD}'")),
        Controllers => {
            let hit = Cluster::MACHINES.map(|machine| hits(machine, "pkill -KILL -f 'reprovision controller$'"));
            hit.contains(&true)
        }
    }
}

fn power_loss(cluster: &Cluster, machine: &str) -> bool {
    cluster.lab.run("kill", &[machine]).ok();
    cluster.lab.up(1, 2).ok();
    eventually("the API answers", || cluster.try_kubectl(&["get", "--raw", "/readyz"]).code == Some(0));
    true
}

fn await_any_end(cluster: &Cluster, attempt: u64) -> String {
    let until = Instant::now() + END;
    loop {
        let status = &node::object(cluster)["status"];
        let phase = status["phase"].as_str().unwrap_or_default();
        let is_end = ["Done", "Refused", "RolledBack", "Stuck"].contains(&phase);
        if is_end && status["attempt"].as_u64().is_some_and(|seen| seen > attempt) {
            return phase.to_owned();
        }
        assert!(Instant::now() < until, "no end within {} s: {status:#}", END.as_secs());
        sleep(Duration::from_millis(200));
    }
}
