//! What `journalctl -u bootkube` says of a bootstrap node: the messages that people know, each when it is true.

use crate::{
    milestones::{self, Progress},
    run_record::{RunRecord, StepRun, StepState},
};

/// Messages, each with the step behind it and whether that must have begun or be verified.
const MESSAGES: [(&str, &str, Until); 7] = [
    ("Rendering etcd manifests...", "etcd-pod", Until::Begun),
    ("Rendering kube-apiserver manifests...", "kube-apiserver-pod", Until::Begun),
    ("Starting cluster-bootstrap...", "kubelet", Until::Verified),
    ("Waiting for API server to come up...", "kubelet", Until::Verified),
    ("API server is up", "api-ready", Until::Verified),
    ("Applying cluster manifests...", "namespaces", Until::Begun),
    ("Waiting for bootstrap to complete...", "masters-present", Until::Begun),
];

/// Nothing comes behind it.
pub const LAST: &str = "bootkube.service complete";

/// Behind them: milestones that are reached.
const REACHED: [(&str, &str); 4] = [
    ("masters", "all masters are there"),
    ("etcd-scaled", "etcd cluster is healthy: every master has a vote"),
    ("pivot", "the control plane is on the masters"),
    ("complete", LAST),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Begun,
    Verified,
}

/// Everything to be logged by now, in order. A line that was there once stays; only the last one may be what is waited for.
pub fn lines(records: &[RunRecord]) -> Vec<String> {
    let all = records.iter().flat_map(|record| &record.steps);
    let is_true = |id: &str, until: Until| all.clone().any(|step| step.id == id && holds(step, until));
    // Later ones may be true before earlier ones are; they are logged in the order that people know.
    let known =
        MESSAGES.iter().take_while(|(_, step, until)| is_true(step, *until)).map(|(text, ..)| (*text).to_owned());
    let mut lines: Vec<String> = known.collect();
    let are_all_true = lines.len() == MESSAGES.len();
    lines.insert(0, "Starting bootkube.sh...".to_owned());
    if are_all_true {
        let progress = milestones::progress(records);
        let reached = |id: &str| progress.iter().any(|one| one.milestone.id == id && one.reached.is_some());
        lines.extend(REACHED.iter().take_while(|(id, _)| reached(id)).map(|(_, text)| (*text).to_owned()));
        lines.extend(waiting(&progress));
    }
    lines.extend(records.first().and_then(failure));
    lines
}

fn holds(step: &StepRun, until: Until) -> bool {
    match until {
        Until::Begun => step.started.is_some(),
        Until::Verified => matches!(step.state, StepState::Done | StepState::Unchanged),
    }
}

fn waiting(progress: &[Progress]) -> Option<String> {
    let next = progress.iter().find(|one| one.reached.is_none() && one.milestone.number >= 9)?;
    next.waiting.clone()
}

/// Why the last run has ended, if it failed.
fn failure(record: &RunRecord) -> Option<String> {
    let error = record.last_error.as_ref().filter(|_| record.outcome == crate::run_record::Outcome::Failed)?;
    Some(format!("failed: {}: {}; {}", error.diagnostic.code, error.diagnostic.message, error.diagnostic.hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::milestones::record;

    #[test]
    fn what_people_know_comes_in_their_order_and_each_when_it_is_true() {
        let output = |steps: &str| lines(&[record(steps)]).join(" | ");
        let all = "etcd-pod:done:3 kube-apiserver-pod:done:3 kubelet:done:2 api-ready:done:5 namespaces:done:6";
        let reached = "masters-present:done:7 etcd-announced:done:8 etcd-scaled:waiting:master-02";
        insta::assert_snapshot!(
            [
                output(""),
                output("kubelet:done:2"),
                output("kubelet:done:2 etcd-pod:done:3"),
                output(&format!("{all} masters-present:waiting:master-01,master-02")),
                output(&format!("{all} {reached}")),
            ]
            .join("\n")
        );
    }
}
