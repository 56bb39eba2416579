//! What is shown of one node. Pure.

use std::{collections::BTreeMap, time::Duration};

use jiff::{SignedDuration, Timestamp};
use lab::Power;
use nodekit::run_record::{Outcome, Purpose, RunSummary};

use super::{
    facts::{Facts, Heard, Known, Seen},
    view::{NodeState, NodeView},
};

/// Three reports that did not come.
const SILENT_AFTER: Duration = Duration::from_secs(15);

/// Its run says more than the unit's state.
const BOOTSTRAP: &str = "cluster-bootstrap.service";

/// One node, from its last report and as of when to read that.
pub(super) fn node(facts: &Facts, known: &Known, heard: Option<(&Heard, Timestamp)>) -> NodeView {
    let seen = facts.machines.get(&known.name);
    let status = heard.and_then(|(heard, _)| heard.status.as_ref());
    let reported = status.and_then(|status| status.run.as_ref());
    let run = seen.and_then(|seen| seen.run.as_ref()).or(reported);
    let failing_units = status.map(|status| failing(&status.units)).unwrap_or_default();
    let (state, since, note) = state(facts, seen, heard, run, !failing_units.is_empty());
    NodeView {
        name: known.name.clone(),
        role: known.role,
        state,
        since,
        heard: heard.map(|(heard, _)| heard.at),
        joined: heard.map(|(heard, _)| !heard.early),
        run: run.cloned(),
        failing_units,
        version: status.map(|status| status.version.clone()),
        power: seen.and_then(|seen| seen.power),
        cut_off_from: seen.map(|seen| seen.cut_off_from.clone()).unwrap_or_default(),
        note,
    }
}

fn failing(units: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let fails = |(name, state): &(&String, &String)| {
        matches!(state.as_str(), "failed" | "auto-restart") && name.as_str() != BOOTSTRAP
    };
    units.iter().filter(fails).map(|(name, state)| (name.clone(), state.clone())).collect()
}

type Evaluated = (NodeState, Option<Timestamp>, Option<String>);

fn state(
    facts: &Facts,
    seen: Option<&Seen>,
    heard: Option<(&Heard, Timestamp)>,
    run: Option<&RunSummary>,
    units_fail: bool,
) -> Evaluated {
    let power = seen.and_then(|seen| seen.power);
    let last = heard.map(|(heard, _)| heard.at);
    match (power, heard) {
        (Some(Power::Off), _) => return (NodeState::Off, last, None),
        (Some(Power::Paused), _) => return (NodeState::Silent, last, Some("the machine is paused".to_owned())),
        (_, Some((heard, asked))) if is_late(heard.at, asked) => {
            let cut = seen.map(|seen| seen.cut_off_from.join(", ")).filter(|cut| !cut.is_empty());
            return (NodeState::Silent, last, cut.map(|cut| format!("the machine is cut off from {cut}")));
        }
        _ => {}
    }
    match (run, heard) {
        (Some(run), _) => of_run(run, units_fail),
        (None, Some((Heard { status: None, .. }, _))) => {
            (NodeState::Unknown, last, Some("cannot parse its report: another version?".to_owned()))
        }
        (None, Some(_)) => (NodeState::Starting, None, None),
        (None, None) if seen.is_some() => (NodeState::Starting, None, None),
        (None, None) => never_heard(facts),
    }
}

fn is_late(heard: Timestamp, asked: Timestamp) -> bool {
    asked.duration_since(heard) > SignedDuration::try_from(SILENT_AFTER).unwrap_or(SignedDuration::ZERO)
}

fn of_run(run: &RunSummary, units_fail: bool) -> Evaluated {
    let state = match (run.outcome, run.purpose) {
        (Outcome::Working, _) if !run.steps.is_empty() && run.waiting().len() == run.steps.len() => {
            let since = run.steps.iter().filter_map(|step| step.since).max();
            return (NodeState::Waiting, since, None);
        }
        (Outcome::Working, _) => return (NodeState::Working, Some(run.started), None),
        (Outcome::Failed, _) => NodeState::Failed,
        (Outcome::Cancelled, _) => NodeState::Stopped,
        (Outcome::Interrupted, _) => NodeState::Interrupted,
        (Outcome::Done, Purpose::Detect) => NodeState::Starting,
        (Outcome::Done, Purpose::Reset) => NodeState::Reset,
        (Outcome::Done, Purpose::Up) if units_fail => NodeState::NotReady,
        (Outcome::Done, Purpose::Up) => NodeState::Ready,
    };
    (state, run.ended, None)
}

/// No master has heard of it; the one that has listened longest says most.
fn never_heard(facts: &Facts) -> Evaluated {
    let there = facts.masters.iter().filter(|(name, _)| !facts.is_gone(name));
    let listening = there.filter_map(|(name, master)| Some((master.listening_since?, name)));
    match listening.min() {
        Some((since, master)) => (NodeState::Silent, Some(since), Some(format!("{master} never heard of it"))),
        None => (NodeState::Unknown, None, None),
    }
}
