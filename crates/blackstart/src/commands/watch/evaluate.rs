//! From what was gathered to what is shown. Pure.
//!
//! What can be seen on the machine itself counts more than what it has reported; whether it still reports is for the
//! masters to say. While a master cannot be asked, its last answer is shown as of then.

use jiff::Timestamp;
use spec::Role;

use super::{
    bootstrap,
    facts::{Facts, Master},
    node_view::node,
    view::{MasterState, MasterView, NodeView, SCHEMA_VERSION, View},
};

/// All nodes as of now.
pub(super) fn evaluate(facts: &Facts, now: Timestamp) -> View {
    let nodes: Vec<NodeView> = facts.nodes.iter().map(|known| node(facts, known, facts.heard(&known.name))).collect();
    let bootstrap = bootstrap::evaluate(facts, &nodes, now);
    let asked = facts.bootstrap.iter().filter(|_| !bootstrap.is_over);
    let asked = asked.chain(facts.nodes.iter().filter(|node| node.role == Role::Master));
    View {
        v: SCHEMA_VERSION,
        time: now,
        cluster: facts.cluster.clone(),
        masters: asked.map(|node| master(&node.name, facts.masters.get(&node.name))).collect(),
        nodes,
        bootstrap: bootstrap.view,
    }
}

fn master(name: &str, known: Option<&Master>) -> MasterView {
    let unheard = known.and_then(|master| master.unheard.as_ref());
    let state = match known {
        None => MasterState::Asking,
        Some(Master { without_means: true, .. }) => MasterState::NotAsked,
        Some(Master { unheard: Some(_), .. }) => MasterState::Silent,
        Some(Master { api_ready: Some(true), .. }) => MasterState::ApiReady,
        Some(Master { api_ready: Some(false), .. }) => MasterState::ApiNotReady,
        Some(_) => MasterState::Answers,
    };
    MasterView {
        name: name.to_owned(),
        state,
        since: unheard.map(|unheard| unheard.since),
        answered: known.and_then(|master| master.answered),
        why: unheard.map(|unheard| unheard.why.clone()),
    }
}
