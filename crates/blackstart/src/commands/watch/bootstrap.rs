//! What is shown of a temporary bootstrap node, and until when. Pure.
//!
//! It disappears when its work is done, so its silence is a failure only as long as the masters need it.

use jiff::Timestamp;
use nodekit::milestones::{self, Progress};
use spec::Role;

use super::{
    facts::{Facts, Known, Unheard},
    node_view::node,
    view::{BootstrapView, NodeState, NodeView},
};

/// The bootstrap node as of now.
pub(super) struct Evaluated {
    /// `None` where there is none, or nothing of it is known.
    pub(super) view: Option<BootstrapView>,
    /// Whether the masters go on without it.
    pub(super) is_over: bool,
}

pub(super) fn evaluate(facts: &Facts, nodes: &[NodeView], now: Timestamp) -> Evaluated {
    let Some(known) = &facts.bootstrap else { return Evaluated { view: None, is_over: true } };
    let milestones = milestones(facts, known);
    let completed = milestones::completed(&milestones);
    let is_begun = milestones.iter().any(|one| one.reached.is_some());
    let is_over = completed.is_some() || !is_begun && is_without(facts, nodes);
    let is_known = is_begun || facts.machines.contains_key(&known.name) || facts.heard(&known.name).is_some();
    let view = is_known && (is_begun || !is_over);
    let view = view.then(|| BootstrapView {
        node: of(facts, known, completed, now),
        complete: completed.is_some(),
        milestones,
    });
    Evaluated { view, is_over }
}

/// A node that has long been removed has left no milestones, and neither has a machine that is used for something else. Then
/// the masters show it: they do not get Ready without it, nor does their API.
fn is_without(facts: &Facts, nodes: &[NodeView]) -> bool {
    let is_master = |name: &str| nodes.iter().any(|node| node.name == name);
    let answers = facts.masters.iter().any(|(name, master)| master.api_ready == Some(true) && is_master(name));
    answers || nodes.iter().filter(|node| node.role == Role::Master).all(|node| node.state == NodeState::Ready)
}

/// Those seen on the machine, else those it has reported; and what is in the API.
fn milestones(facts: &Facts, known: &Known) -> Vec<Progress> {
    let seen = facts.machines.get(&known.name).map(|seen| &seen.milestones).filter(|seen| !seen.is_empty());
    let mut milestones = seen.cloned().unwrap_or_else(|| {
        let status = facts.heard(&known.name).and_then(|(heard, _)| heard.status.as_ref());
        let times = status.map(|status| status.milestones.clone()).unwrap_or_default();
        milestones::reported(&times, status.and_then(|status| status.run.as_ref()))
    });
    milestones::add(&mut milestones, &facts.published);
    milestones
}

fn of(facts: &Facts, known: &Known, completed: Option<Timestamp>, now: Timestamp) -> NodeView {
    let heard = facts.heard(&known.name);
    // Its own join service has its reports. If that is silent, so is the node: no other master hears of it.
    let heard = heard.map(|(heard, asked)| (heard, if facts.is_gone(&known.name) { now } else { asked }));
    let mut view = node(facts, known, heard);
    if heard.is_none() && !facts.machines.contains_key(&known.name) {
        let unheard = facts.masters.get(&known.name).and_then(|own| own.unheard.as_ref());
        view.state = if unheard.is_some() { NodeState::Silent } else { NodeState::Unknown };
        (view.since, view.note) = (unheard.map(|Unheard { since, .. }| *since), None);
    }
    if completed.is_some() && is_at_rest(view.state) {
        (view.state, view.since, view.note) = (NodeState::Retired, completed, None);
    }
    view
}

/// A run that erases keys and fails is of interest also after the last milestone.
fn is_at_rest(state: NodeState) -> bool {
    !matches!(
        state,
        NodeState::Working | NodeState::Waiting | NodeState::Failed | NodeState::Stopped | NodeState::Interrupted
    )
}
