//! Which nodes a plan begins next, and how far it is. Pure.
//!
//! A plan only makes objects, one per Node; everything else is theirs. So two plans that select the same node cannot both work on
//! it: the object has the name of the Node, and belongs to the first plan until that is deleted. Else two plans would
//! take turns at it for ever.

use explain::counted;
use jiff::Timestamp;
use kubeapi::k8s_openapi::apimachinery::pkg::{
    apis::meta::v1::{Condition, Time},
    util::intstr::IntOrString,
};
use operations::slots::Limit;

use crate::{NodeUpgrade, Phase, UpgradePlan, UpgradePlanStatus, names};

/// A Node that a plan selects.
#[derive(Debug, Clone)]
pub struct Selected<'a> {
    /// Its name.
    pub node: String,
    /// Masters come first, one at a time.
    pub is_master: bool,
    /// Its object, of a label or of any plan.
    pub object: Option<&'a NodeUpgrade>,
    /// The other plan it belongs to.
    pub belongs_to: Option<&'a str>,
}

/// What a plan does next.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The nodes that are begun now.
    pub begin: Vec<String>,
    /// How far it is.
    pub status: UpgradePlanStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    ToDo,
    /// By a label or by any plan.
    Active,
    /// By another plan.
    Taken,
    Done,
    Failed,
}

impl Selected<'_> {
    fn state(&self, plan: &UpgradePlan) -> State {
        let Some(object) = self.object else { return State::ToDo };
        if self.belongs_to.is_some() {
            return State::Taken;
        }
        let phase = object.status.phase;
        let is_ours = object.annotation(names::PLAN_ANNOTATION) == Some(&*plan.mark());
        // An end counts for the attempt that was asked for, not for one before it.
        let is_over = phase.is_end() && object.status.retried.as_deref() == object.annotation(names::RETRY_ANNOTATION);
        match (is_ours, is_over) {
            (true, true) if phase == Phase::Done => State::Done,
            (true, true) => State::Failed,
            (false, true) if phase != Phase::Stuck => State::ToDo,
            _ => State::Active,
        }
    }
}

/// What a plan does next.
pub fn decide(plan: &UpgradePlan, nodes: &[Selected], now: Timestamp) -> Decision {
    let mut all: Vec<(&Selected, State)> = nodes.iter().map(|node| (node, node.state(plan))).collect();
    all.sort_by_key(|(node, _)| (!node.is_master, node.node.clone()));
    let count = |wanted: State| all.iter().filter(|(_, state)| *state == wanted).count();
    let names = |wanted: State| {
        let names = all.iter().filter(|(_, state)| *state == wanted).map(|(node, _)| node.node.clone());
        names.collect::<Vec<_>>().join(", ")
    };
    let (done, active, failed, to_do) =
        (count(State::Done), count(State::Active), count(State::Failed), count(State::ToDo));
    let is_stopped = failed > 0 && plan.spec.stop_on_failure;
    let begin = if plan.spec.paused || is_stopped { Vec::new() } else { begin(plan, &all) };
    let message = if all.is_empty() {
        "no node has these labels".to_owned()
    } else if is_stopped && to_do > 0 {
        format!("stopped: {} failed", names(State::Failed))
    } else if plan.spec.paused && to_do > 0 {
        format!("paused; {} not begun", counted(to_do, "node"))
    } else if active > 0 {
        format!("waits for {}", names(State::Active))
    } else if failed > 0 {
        format!("{} failed", names(State::Failed))
    } else if let Some((node, plan)) = all.iter().find_map(|(node, _)| Some((&node.node, node.belongs_to?))) {
        format!("{node} belongs to plan {plan}")
    } else {
        String::new()
    };
    let status = UpgradePlanStatus {
        observed_generation: plan.metadata.generation.unwrap_or_default(),
        total: all.len(),
        done,
        active: active + begin.len(),
        failed,
        message,
        conditions: Vec::new(),
    };
    let conditions = conditions(plan, &status, now);
    Decision { begin, status: UpgradePlanStatus { conditions, ..status } }
}

/// Masters before all others and one at a time; of the others as many as the limit leaves.
fn begin(plan: &UpgradePlan, states: &[(&Selected, State)]) -> Vec<String> {
    let is_open = |state: State| matches!(state, State::ToDo | State::Active);
    let masters_only = states.iter().any(|(node, state)| node.is_master && is_open(*state));
    let limit = if masters_only { 1 } else { limit(&plan.spec.max_unavailable).slots(states.len()) };
    let away = states.iter().filter(|(_, state)| *state == State::Active).count();
    let to_do = states.iter().filter(|(node, state)| *state == State::ToDo && node.is_master == masters_only);
    to_do.take(limit.saturating_sub(away)).map(|(node, _)| node.node.clone()).collect()
}

fn limit(text: &IntOrString) -> Limit {
    let parsed = match text {
        IntOrString::Int(number) => Limit::parse(&number.to_string()),
        IntOrString::String(text) => Limit::parse(text),
    };
    // The schema refuses anything else.
    parsed.unwrap_or(Limit::Nodes(1))
}

fn conditions(plan: &UpgradePlan, status: &UpgradePlanStatus, now: Timestamp) -> Vec<Condition> {
    let is_done = status.total > 0 && status.done == status.total;
    let is_stalled = status.failed > 0 && status.active == 0;
    let reason = match () {
        () if is_done => "Done",
        () if is_stalled => "Failed",
        () if plan.spec.paused => "Paused",
        () => "Progressing",
    };
    [("Ready", is_done), ("Reconciling", !is_done && !is_stalled), ("Stalled", is_stalled)]
        .map(|(kind, is_true)| {
            let value = if is_true { "True" } else { "False" };
            let before = plan.status.conditions.iter().find(|one| one.type_ == kind && one.status == value);
            Condition {
                type_: kind.to_owned(),
                status: value.to_owned(),
                reason: reason.to_owned(),
                message: status.message.clone(),
                observed_generation: Some(status.observed_generation),
                last_transition_time: before.map_or(Time(now), |before| before.last_transition_time.clone()),
            }
        })
        .to_vec()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::NodeUpgradeSpec;

    fn plan(spec: &serde_json::Value) -> UpgradePlan {
        let mut all = json!({ "nodes": {} });
        for (key, value) in spec.as_object().unwrap() {
            all[key] = value.clone();
        }
        let kind = json!({ "apiVersion": "blackstart.io/v1alpha1", "kind": "UpgradePlan",
                           "metadata": { "name": "all", "generation": 2 }, "spec": all });
        serde_json::from_value(kind).unwrap()
    }

    /// The object of a node, begun for this state of a plan.
    fn object(node: &str, mark: &str, phase: Phase) -> NodeUpgrade {
        let mut object = NodeUpgrade::new(node, NodeUpgradeSpec::default());
        let both = [names::RETRY_ANNOTATION, names::PLAN_ANNOTATION].map(|key| (key.to_owned(), mark.to_owned()));
        object.metadata.annotations = Some(both.into());
        object.status.phase = phase;
        object.status.retried = Some(mark.to_owned());
        object
    }

    fn line(case: &str, spec: &serde_json::Value, nodes: &[(&str, Option<(&str, Phase)>)]) -> String {
        let objects: Vec<Option<NodeUpgrade>> =
            nodes.iter().map(|(node, of)| of.map(|(mark, phase)| object(node, mark, phase))).collect();
        let selected: Vec<Selected> = nodes
            .iter()
            .zip(&objects)
            .map(|((node, _), object)| Selected {
                node: (*node).into(),
                is_master: node.starts_with('m'),
                object: object.as_ref(),
                belongs_to: node.ends_with("-taken").then_some("other"),
            })
            .collect();
        let Decision { begin, status } = decide(&plan(spec), &selected, Timestamp::UNIX_EPOCH);
        let held: Vec<&str> =
            status.conditions.iter().filter(|one| one.status == "True").map(|one| &*one.type_).collect();
        let UpgradePlanStatus { total, done, active, failed, message, .. } = &status;
        format!("{case}: begin {begin:?}; {done} done, {active} active, {failed} failed of {total}; {held:?} {message}")
    }

    #[test]
    fn which_nodes_are_begun() {
        let none: Option<(&str, Phase)> = None;
        let (now, before) = ("all-2", "all-1");
        let of = |mark, phase| Some((mark, phase));
        let one = json!({});
        let two = json!({ "maxUnavailable": 2 });
        let lines = [
            line("nothing begun, masters first", &two, &[("w1", none), ("m1", none), ("m2", none)]),
            line("a master is away", &two, &[("m1", of(now, Phase::Draining)), ("m2", none), ("w1", none)]),
            line("masters done", &two, &[("m1", of(now, Phase::Done)), ("w1", none), ("w2", none), ("w3", none)]),
            line("a share", &json!({ "maxUnavailable": "50%" }), &[("w1", none), ("w2", none), ("w3", none)]),
            line("one is away", &one, &[("w1", of(now, Phase::Gating)), ("w2", none)]),
            line("one has failed", &one, &[("w1", of(now, Phase::RolledBack)), ("w2", none)]),
            line(
                "goes on all the same",
                &json!({ "stopOnFailure": false }),
                &[("w1", of(now, Phase::Refused)), ("w2", none)],
            ),
            line("paused", &json!({ "paused": true }), &[("w1", of(now, Phase::Done)), ("w2", none)]),
            line("all done", &one, &[("w1", of(now, Phase::Done)), ("w2", of(now, Phase::Done))]),
            line("the plan changed", &one, &[("w1", of(before, Phase::Done)), ("w2", of(before, Phase::Done))]),
            line("a person is at it", &one, &[("w1", of("", Phase::Applying)), ("w2", none)]),
            line("a person was at it", &one, &[("w1", of("", Phase::Done))]),
            line("stuck before", &two, &[("w1", of("", Phase::Stuck)), ("w2", none)]),
            line(
                "another plan has it",
                &one,
                &[("w1-taken", of("other-1", Phase::Done)), ("w2", of(now, Phase::Done))],
            ),
            line("no node", &one, &[]),
        ];
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn an_end_of_the_attempt_before_does_not_count() {
        let mut object = object("w1", "all-2", Phase::Done);
        object.status.retried = Some("all-1".into());
        let selected = Selected { node: "w1".into(), is_master: false, object: Some(&object), belongs_to: None };
        assert_eq!(selected.state(&plan(&json!({}))), State::Active);

        let mut retried = self::object("w1", "all-2", Phase::Done);
        retried.metadata.annotations.as_mut().unwrap().insert(names::RETRY_ANNOTATION.to_owned(), "by hand".into());
        retried.status.retried = Some("by hand".into());
        let selected = Selected { object: Some(&retried), ..selected };
        assert_eq!(selected.state(&plan(&json!({}))), State::Done, "a person's retry was for the plan, too");
    }
}
