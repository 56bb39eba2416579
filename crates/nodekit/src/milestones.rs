//! The thirteen milestones of a cluster that begins on a temporary bootstrap node, as people know them from other
//! installers, and when each was reached.
//!
//! They are read from run records: a milestone is reached when all of its steps were verified once. Nothing is decided by
//! them. To add one: a line in [`ALL`]; a test of the playbooks looks whether its steps exist.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::run_record::{OpenStep, Purpose, RunRecord, RunSummary, StepState};

/// Something that has happened once its steps are verified.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Milestone {
    /// Counts from 1.
    pub number: u8,
    /// For scripts.
    pub id: &'static str,
    /// For people.
    pub title: &'static str,
    /// The steps of the bootstrap node behind it.
    #[serde(skip)]
    pub steps: &'static [&'static str],
}

const fn milestone(number: u8, id: &'static str, title: &'static str, steps: &'static [&'static str]) -> Milestone {
    Milestone { number, id, title, steps }
}

/// The last one.
pub const COMPLETE: &str = "complete";

/// No other node has this step.
const ONLY_THERE: &str = "etcd-pod";

/// In their order.
pub const ALL: [Milestone; 13] = [
    milestone(1, "os", "The machine boots with its configuration", &["preflight"]),
    milestone(2, "kubelet", "kubelet starts", &["kubelet"]),
    milestone(3, "static-pods", "kubelet starts static pods", &["pause-image", "etcd-pod"]),
    milestone(4, "etcd", "etcd starts (single member)", &["etcd-pod"]),
    milestone(5, "kube-apiserver", "kube-apiserver starts", &["kube-apiserver-pod", "api-ready"]),
    milestone(6, "kube-controller-manager", "kube-controller-manager starts", &["kube-controller-manager-pod"]),
    milestone(7, "kube-scheduler", "kube-scheduler starts", &["kube-scheduler-pod"]),
    milestone(
        8,
        "manifests",
        "Cluster manifests are applied",
        &["cluster-operators", "network-add-on", "cluster-version-operator"],
    ),
    milestone(9, "masters", "Masters join", &["masters-present"]),
    milestone(10, "learners", "Masters' etcd members are announced", &["etcd-announced"]),
    milestone(11, "etcd-scaled", "etcd scales to the masters", &["etcd-scaled"]),
    milestone(12, "pivot", "Control plane pivots to masters", &["controllers-released", "api-released", "etcd-left"]),
    milestone(13, COMPLETE, "Bootstrap complete", &["bootstrap-complete"]),
];

/// A milestone, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Which.
    #[serde(flatten)]
    pub milestone: &'static Milestone,
    /// When it was reached.
    pub reached: Option<Timestamp>,
    /// What it waits for, what is being done, or what went wrong last.
    pub waiting: Option<String>,
}

/// All of them, from the runs that are kept, the newest first.
pub fn progress(records: &[RunRecord]) -> Vec<Progress> {
    let verified = verified(records);
    let of = |milestone: &'static Milestone| {
        let times: Option<Vec<Timestamp>> = milestone.steps.iter().map(|step| verified.get(step).copied()).collect();
        let reached = times.and_then(|times| times.into_iter().max());
        let waiting = reached.is_none().then(|| records.first().and_then(|record| waiting(record, milestone)));
        Progress { milestone, reached, waiting: waiting.flatten() }
    };
    ALL.iter().map(of).collect()
}

/// Those of one run; `None` if it is no bootstrap node's, or has not come to the first step that only such a node has.
pub fn of_run(record: &RunRecord) -> Option<Vec<Progress>> {
    let is_bootstrap = record.purpose == Purpose::Up && record.steps.iter().any(|step| step.id == ONLY_THERE);
    is_bootstrap.then(|| progress(std::slice::from_ref(record)))
}

/// A record for scripts.
#[derive(Debug, Serialize)]
pub struct WithMilestones<'a> {
    #[serde(flatten)]
    record: &'a RunRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    milestones: Option<Vec<Progress>>,
}

impl<'a> From<&'a RunRecord> for WithMilestones<'a> {
    fn from(record: &'a RunRecord) -> Self {
        Self { record, milestones: of_run(record) }
    }
}

/// Adds what is reached by other sources.
pub fn add(progress: &mut [Progress], others: &[Progress]) {
    for (one, other) in progress.iter_mut().zip(others) {
        if let (None, Some(time)) = (one.reached, other.reached) {
            (one.reached, one.waiting) = (Some(time), None);
        }
    }
}

/// When the last one was reached, if it is.
pub fn completed(progress: &[Progress]) -> Option<Timestamp> {
    progress.iter().find(|one| one.milestone.id == COMPLETE)?.reached
}

/// Those that are reached, as ConfigMap `kube-system/bootstrap` has them: `05-kube-apiserver: 2026-11-18T08:00:05Z`.
pub fn times(progress: &[Progress]) -> BTreeMap<String, String> {
    let reached = progress.iter().filter_map(|one| Some((one.milestone.key(), format!("{:.0}", one.reached?))));
    reached.collect()
}

/// The same, read back. What is no time is not reached.
pub fn published(data: &BTreeMap<String, String>) -> Vec<Progress> {
    let time = |milestone: &Milestone| data.get(&milestone.key()).and_then(|time| time.parse().ok());
    ALL.iter().map(|milestone| Progress { milestone, reached: time(milestone), waiting: None }).collect()
}

/// The same with what the steps of a run wait for, do or failed with, as an agent reports it beside the times.
pub fn reported(times: &BTreeMap<String, String>, run: Option<&RunSummary>) -> Vec<Progress> {
    let mut progress = published(times);
    let steps = run.map_or(&[][..], |run| &run.steps);
    for one in progress.iter_mut().filter(|one| one.reached.is_none()) {
        let step = steps.iter().find(|step| one.milestone.steps.contains(&step.id.as_str()));
        one.waiting = step.map(open);
    }
    progress
}

fn open(step: &OpenStep) -> String {
    match (step.state, &step.error) {
        (StepState::Waiting, _) => format!("waiting for {}", step.what),
        (StepState::Working, _) | (_, None) => step.what.clone(),
        (_, Some(error)) => format!("{}: {}", error.diagnostic.code, error.diagnostic.message),
    }
}

impl Milestone {
    fn key(&self) -> String {
        format!("{:02}-{}", self.number, self.id)
    }
}

/// When each step was first seen to be as promised.
fn verified(records: &[RunRecord]) -> BTreeMap<&str, Timestamp> {
    let mut first = BTreeMap::new();
    for step in records.iter().flat_map(|record| &record.steps) {
        if let (StepState::Done | StepState::Unchanged, Some(ended)) = (step.state, step.ended) {
            let time = first.entry(step.id.as_str()).or_insert(ended);
            *time = ended.min(*time);
        }
    }
    first
}

fn waiting(record: &RunRecord, milestone: &Milestone) -> Option<String> {
    let steps = || record.steps.iter().filter(|step| milestone.steps.contains(&step.id.as_str()));
    let error = record.last_error.as_ref().filter(|error| {
        steps().any(|step| error.step.as_ref() == Some(&step.id) && !matches!(step.state, StepState::Done))
    });
    let waits = || steps().find_map(|step| step.waits.last().filter(|wait| wait.until.is_none()));
    let doing = || steps().find_map(|step| step.doing.clone());
    waits()
        .map(|wait| format!("waiting for {}", wait.what))
        .or_else(doing)
        .or_else(|| error.map(|error| format!("{}: {}", error.diagnostic.code, error.diagnostic.message)))
}

/// Steps as `id:state:second`, or `id:waiting:what`.
#[cfg(test)]
pub(crate) fn record(steps: &str) -> RunRecord {
    let second = |second: &str| format!("2026-11-18T08:00:{second:0>2}Z");
    let step = |text: &str| {
        let parts: Vec<&str> = text.split(':').collect();
        let waits = match parts[1] {
            "waiting" => serde_json::json!([{ "what": parts[2], "since": second("1") }]),
            _ => serde_json::json!([]),
        };
        let ended = (parts[1] != "waiting").then(|| second(parts[2]));
        serde_json::json!({ "id": parts[0], "title": "", "started": second("1"), "ended": ended, "state": parts[1], "attempts": [], "waits": waits })
    };
    let steps: Vec<_> = steps.split_whitespace().map(step).collect();
    serde_json::from_value(serde_json::json!({
        "v": 1, "run": "r", "purpose": "up", "node": "bootstrap", "playbook": "cluster", "boot_id": "b",
        "process": { "pid": 1, "began": 1 }, "version": "0", "started": second("0"), "updated": second("0"),
        "outcome": "working", "done": 0, "total": 0, "summary": "", "steps": steps,
    }))
    .unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(records: &[RunRecord]) -> String {
        let line = |progress: &Progress| {
            let time = progress.reached.map(|time| time.strftime("%S").to_string());
            let state = time.or_else(|| progress.waiting.clone()).unwrap_or_else(|| "-".to_owned());
            format!("{}={state}", progress.milestone.id)
        };
        progress(records).iter().map(line).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_milestone_is_reached_when_all_of_its_steps_were_verified_once() {
        assert_eq!(progress(&[]).iter().filter(|one| one.reached.is_some() || one.waiting.is_some()).count(), 0);
        let first = record("preflight:done:2 kubelet:done:4 pause-image:unchanged:3 etcd-pod:waiting:etcd");
        assert!(
            shown(&[first])
                .starts_with("os=02 kubelet=04 static-pods=waiting for etcd etcd=waiting for etcd kube-apiserver=- ")
        );
        // The second run found the first one's work as it was left: what counts is when it was first seen.
        let first = record("preflight:done:2 kubelet:done:4 cluster-operators:failed:9");
        let second = record("preflight:unchanged:20 kubelet:done:21 cluster-operators:done:22 network-add-on:done:25");
        let both = shown(&[second, first]);
        assert!(both.starts_with("os=02 kubelet=04 ") && both.contains(" manifests=- "), "{both}");
    }

    #[test]
    fn what_an_agent_reports_is_read_back_with_what_is_waited_for() {
        let run = record("preflight:done:2 kubelet:done:4 masters-present:waiting:master-02");
        let summary = RunSummary::from(&run);
        let seen = progress(std::slice::from_ref(&run));
        assert_eq!(reported(&times(&seen), Some(&summary)), seen);
        assert_eq!(seen[8].waiting.as_deref(), Some("waiting for master-02"));
        let strange = [("01-os", "yesterday"), ("02-kubelet", ""), ("13-complete", "\u{1b}[2J"), ("14-more", "2026")];
        let strange = strange.map(|(key, time)| (key.to_owned(), time.to_owned())).into();
        assert!(reported(&strange, None).iter().all(|one| one.reached.is_none() && one.waiting.is_none()));
    }

    #[test]
    fn only_a_bootstrap_node_has_them() {
        let reached =
            |steps: &str| of_run(&record(steps)).map(|all| all.iter().filter(|one| one.reached.is_some()).count());
        assert_eq!(reached("preflight:done:2 kubelet:done:4 api-ready:done:5"), None);
        assert_eq!(reached("preflight:done:2 kubelet:done:4 etcd-pod:waiting:etcd"), Some(2));
        let undone = RunRecord { purpose: Purpose::Reset, ..record("etcd-pod:undone:5") };
        assert_eq!(of_run(&undone), None);
    }

    #[test]
    fn they_are_numbered() {
        assert!((1..).zip(&ALL).all(|(number, milestone)| milestone.number == number));
    }
}
