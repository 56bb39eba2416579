//! One machine has become a node of the lab's cluster. It does so by itself; here this is only seen.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use engine::{About, FilesOnly, Step, StepError, StepId, Verdict};
use host::Host;
use nodekit::{
    Layout,
    run_record::{Outcome, Purpose, RunRecord},
};

use crate::{Capabilities, Lab, LabError, Machine, codes};

/// The bootstrap is started again by systemd when it fails; one failure may be fixed by that, many are not.
const FAILURES: usize = 3;

pub(super) struct Node {
    lab: Arc<Lab>,
    name: String,
    /// The runs of its bootstrap that failed.
    failures: Mutex<BTreeSet<String>>,
}

/// What there is of the node.
pub(super) struct Seen {
    boot_id: Option<String>,
    run: Option<RunRecord>,
    /// What the API says of it, once its own run is done: a node may be removed again.
    api: Option<InApi>,
}

/// What the cluster's API says of a node.
#[derive(Debug, PartialEq, Eq)]
enum InApi {
    Ready,
    NotReady,
    Absent,
    /// It was a bootstrap node, and the masters have taken over.
    Retired,
    /// No answer, and why.
    Unknown(String),
}

impl InApi {
    /// From what kubectl printed: the name and the status of the condition `Ready`, or nothing.
    fn read(printed: &str) -> Self {
        let mut words = printed.split_whitespace();
        match (words.next(), words.next()) {
            (None, _) => Self::Absent,
            (Some(_), Some("True")) => Self::Ready,
            (Some(_), _) => Self::NotReady,
        }
    }
}

impl Node {
    pub(super) fn new(lab: &Arc<Lab>, name: &str) -> Self {
        Self { lab: lab.clone(), name: name.to_owned(), failures: Mutex::new(BTreeSet::new()) }
    }

    /// Asks the masters, one after the other, until one answers.
    async fn in_api(&self, capabilities: &Capabilities) -> Result<InApi, StepError> {
        let config = self.lab.config_dir();
        let cluster = spec::check_dir(&config).cluster.ok_or(LabError::Config(config))?;
        let kubeconfig =
            format!("--kubeconfig={}", Layout::default().kubernetes_dir.join("super-admin.conf").display());
        let condition = r#"-o=jsonpath={.metadata.name} {.status.conditions[?(@.type=="Ready")].status}"#;
        let get = ["get", "node", &self.name, "--ignore-not-found", "--request-timeout=5s", condition];
        let is_temporary = cluster.bootstrap_node().is_some_and(|node| node.name == self.name);
        let mut silent = "the lab has no master".to_owned();
        for master in cluster.masters() {
            let machine = Machine::new(&self.lab, &master.name, capabilities)?;
            match machine.ask(&[&["kubectl", &kubeconfig], &get[..]].concat()).await {
                Ok(printed) => match InApi::read(&printed) {
                    InApi::Absent if is_temporary => return Ok(InApi::Retired),
                    read => return Ok(read),
                },
                Err(why) => silent = format!("{}: {why}", master.name),
            }
        }
        Ok(InApi::Unknown(silent))
    }
}

/// How far a run is, and what it is at.
fn progress(name: &str, run: &RunRecord) -> String {
    let far = format!("{name} ({} of {} steps)", run.done, run.total);
    match run.message() {
        nothing if nothing.is_empty() => far,
        message => format!("{far}: {message}"),
    }
}

/// Whether a run ended because the machine has to wait: for an old one of its name to be missed, or for an operator to arm it.
fn is_to_wait(message: &str) -> bool {
    [join::codes::ALIVE, join::codes::KEYS_GIVEN].iter().any(|code| message.contains(code.id))
}

impl Step for Node {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About {
            id: StepId::named(format!("node-{}", self.name)),
            title: format!("Wait for {} to be a Ready node", self.name).into(),
            why: "the lab is a working cluster".into(),
        }
    }

    async fn observe(&self, _host: &Host) -> Result<Seen, StepError> {
        let capabilities = Capabilities::detect()?;
        let machine = Machine::new(&self.lab, &self.name, &capabilities)?;
        let boot_id = machine.boot_id();
        let disk = Host::rooted(machine.upper()).disk;
        let run = RunRecord::latest_for(Purpose::Up, &*disk, &Layout::default().state_dir);
        let run = run.map_err(|error| StepError::from_explained(&error))?;
        let run = run.filter(|run| Some(&run.boot_id) == boot_id.as_ref());
        if let Some(run) = run.as_ref().filter(|run| run.outcome == Outcome::Failed && !is_to_wait(&run.message())) {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            failures.insert(run.run.clone());
            if failures.len() >= FAILURES {
                return Err(StepError::new(codes::NODE_FAILED, format!("{}: {}", self.name, run.message())));
            }
        }
        let is_done = run.as_ref().is_some_and(|run| run.outcome == Outcome::Done);
        let api = if is_done { Some(self.in_api(&capabilities).await?) } else { None };
        if api == Some(InApi::Absent) {
            return Err(StepError::new(codes::NOT_IN_API, format!("the API has no node {}", self.name)));
        }
        Ok(Seen { boot_id, run, api })
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        let waiting = |what: String| Verdict::Waiting { progress: what.clone(), what };
        let name = &self.name;
        let (Some(_), run) = (&seen.boot_id, &seen.run) else {
            return waiting(format!("{name}, which is off"));
        };
        match run {
            None => waiting(format!("{name} to begin")),
            Some(run) => match run.outcome {
                Outcome::Done => match &seen.api {
                    Some(InApi::Ready | InApi::Retired) => Verdict::Met,
                    Some(InApi::Unknown(why)) => waiting(format!("the API to report {name}: {why}")),
                    _ => waiting(format!("{name} to be Ready; it has joined")),
                },
                Outcome::Working => waiting(progress(name, run)),
                Outcome::Failed | Outcome::Cancelled | Outcome::Interrupted => {
                    waiting(format!("{name} to try again: {}", run.message()))
                }
            },
        }
    }

    fn deadline(&self) -> Duration {
        Duration::from_mins(3)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(outcome: &str, steps: &serde_json::Value) -> RunRecord {
        let moment = "2026-11-16T03:00:00Z";
        let run = json!({
            "v": 1, "run": "r", "purpose": "up", "node": "n", "playbook": "cluster", "boot_id": "b", "version": "1",
            "process": { "pid": 1, "began": 1 }, "started": moment, "updated": moment, "outcome": outcome,
            "done": 8, "total": 34, "summary": "34 steps", "steps": steps,
        });
        serde_json::from_value(run).unwrap()
    }

    #[test]
    fn a_node_is_ready_when_the_api_says_so() {
        let lab = Lab {
            name: "lab".parse().unwrap(),
            subnet: "10.88.0.0/24".parse().unwrap(),
            gateway: None,
            with_cluster: true,
            with_ignition: false,
            machines: Vec::new(),
        };
        let node = Node::new(&Arc::new(lab), "n");
        for (printed, is_met) in [("n True", true), ("n False", false), ("n Unknown", false), ("n ", false)] {
            let seen =
                Seen { boot_id: Some("b".into()), run: Some(run("done", &json!([]))), api: Some(InApi::read(printed)) };
            assert_eq!(matches!(node.verify(&seen), Verdict::Met), is_met, "{printed}");
        }
        assert_eq!(InApi::read(""), InApi::Absent);
    }

    #[test]
    fn progress_says_what_it_is_at_and_nothing_twice() {
        assert_eq!(progress("n", &run("working", &json!([]))), "n (8 of 34 steps)");
    }
}
