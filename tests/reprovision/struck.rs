//! Whatever dies, wherever: the node ends where it may, nothing is done twice, and nobody helps.

use std::fmt;

use crate::{
    MASTER, WORKER,
    cases::play_all,
    machine, node, rhel,
    support::{Check, Cluster, eventually},
};

pub(crate) const CHECKS: &[Check] =
    &[("rhel stand-in: the node, its unit, its pod or the controller die in each phase, and it ends well", recovers)];

/// What dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strike {
    /// The machine loses its power, and boots again.
    Power,
    /// The host's unit and all it has started, by SIGKILL.
    Unit,
    /// The pod of `ipb-daemonset`, by SIGKILL.
    Pod,
    /// All controllers at once, by SIGKILL.
    Controllers,
}

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

const PHASES: [&str; 6] = ["Preflight", "Armed", "Applying", "Rebooting", "Gating", "RollingBack"];

fn recovers(cluster: &Cluster) {
    let strikes = [Strike::Power, Strike::Unit, Strike::Pod, Strike::Controllers];
    let cases: Vec<Case> = PHASES.into_iter().flat_map(|phase| strikes.map(|strike| Case { phase, strike })).collect();
    let evidence = || {
        let object = cluster.try_kubectl(&["get", "nodeupgrade", WORKER, "-o", "yaml"]).out;
        let line = "journalctl --no-pager -o short-precise -u 'blackstart-reprovision*' -n 60";
        format!("{object}\n{}", cluster.try_sh(WORKER, line).out)
    };
    play_all("in place", &cases, |seed| cases[seed % cases.len()], |case| play(cluster, *case), evidence);
}

fn play(cluster: &Cluster, case: Case) -> Option<String> {
    rhel::afresh(cluster);
    let goes_back = case.phase == "RollingBack";
    if goes_back {
        cluster.sh(WORKER, "touch /root/fail");
    }
    if case.strike == Strike::Controllers {
        fresh_controllers(cluster);
    }
    let attempt = node::attempt(cluster);
    node::start(cluster);
    let at = reached(cluster, case.phase, attempt);
    strike(cluster, case.strike);
    let end = await_any_end(cluster, attempt);
    let is_early = ["Preflight", "Armed"].contains(&case.phase);
    let is_expected = match (goes_back, &*end) {
        (true, "RolledBack") | (false, "Done") => true,
        // Nobody can know what happened while it was down, and nothing was changed.
        (false, "Refused") => is_early && case.strike == Strike::Power,
        _ => false,
    };
    assert!(is_expected, "{end}: {:#}", node::object(cluster));
    let stages = rhel::stages(cluster);
    if end == "Done" {
        rhel::assert_upgraded(cluster);
        // A script that was killed in its middle is run again, and only that.
        let first = stages.iter().filter(|line| line.starts_with("stage 1")).count();
        let may_repeat = matches!(case.strike, Strike::Power | Strike::Unit);
        assert!(first == 1 || may_repeat && first == 2, "{stages:?}");
    } else {
        assert_eq!(machine::packages(cluster), "shell-1 tool-1", "{stages:?}");
    }
    node::assert_given_back(cluster);
    node::assert_untold(cluster);
    at
}

/// A container that was killed before is started again later each time.
fn fresh_controllers(cluster: &Cluster) {
    for verb in ["restart", "status"] {
        cluster.kubectl(&["rollout", verb, "-n", "ipb-system", "deployment/ipb-controller"]);
    }
}

/// Waits for the phase; none if the run has ended without being seen there.
fn reached(cluster: &Cluster, phase: &str, attempt: u64) -> Option<String> {
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

fn strike(cluster: &Cluster, strike: Strike) {
    match strike {
        Strike::Power => {
            cluster.lab.run("kill", &[WORKER]).ok();
            cluster.lab.up(1, 2).ok();
        }
        Strike::Unit => drop(cluster.try_sh(WORKER, "systemctl kill --signal=KILL blackstart-reprovision")),
        Strike::Pod => drop(cluster.try_sh(WORKER, "pkill -KILL -f 'reprovision pod$'")),
        Strike::Controllers => {
            for machine in Cluster::MACHINES {
                cluster.try_sh(machine, "pkill -KILL -f 'reprovision controller$'");
            }
        }
    }
}

fn await_any_end(cluster: &Cluster, attempt: u64) -> String {
    let mut end = String::new();
    eventually("the run has ended", || {
        let status = &node::object(cluster)["status"];
        let phase = status["phase"].as_str().unwrap_or_default();
        let is_end = ["Done", "Refused", "RolledBack", "Stuck"].contains(&phase);
        phase.clone_into(&mut end);
        is_end && status["attempt"].as_u64().is_some_and(|seen| seen > attempt)
    });
    end
}
