//! What `watch` shows: the same for people and for scripts. `docs/reference/watch.md` describes the JSON form; fields are
//! only ever added.

use std::collections::BTreeMap;

use ::explain::Diagnostic;
use jiff::Timestamp;
use lab::Power;
use nodekit::{
    milestones::Progress,
    run_record::{OpenStep, RunSummary},
};
use serde::Serialize;
use spec::Role;

/// The version in every view's `v`.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// All nodes at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct View {
    pub(super) v: u32,
    pub(super) time: Timestamp,
    pub(super) cluster: String,
    pub(super) masters: Vec<MasterView>,
    pub(super) nodes: Vec<NodeView>,
    /// The temporary bootstrap node, where there is one and something of it is known. It is none of the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bootstrap: Option<BootstrapView>,
}

/// A master that is asked; before them the bootstrap node, until the masters go on without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct MasterView {
    pub(super) name: String,
    pub(super) state: MasterState,
    /// Since when it does not answer.
    pub(super) since: Option<Timestamp>,
    /// When it last answered.
    pub(super) answered: Option<Timestamp>,
    /// Why it does not answer.
    #[serde(flatten)]
    pub(super) why: Option<Diagnostic<String>>,
}

/// What a master says when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum MasterState {
    /// It has not answered the first question yet.
    Asking,
    /// It was not asked: there is nothing to ask it with yet.
    NotAsked,
    /// It answers how all nodes are.
    Answers,
    /// It is there, its API answers it, and this node may not ask more.
    ApiReady,
    /// It is there, and its API does not answer it.
    ApiNotReady,
    /// It does not answer, or says no.
    Silent,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct NodeView {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) state: NodeState,
    /// Since when it is in this state, where that is known.
    pub(super) since: Option<Timestamp>,
    /// When a master last heard of it.
    pub(super) heard: Option<Timestamp>,
    /// Whether it has joined; absent where no master has heard of it.
    pub(super) joined: Option<bool>,
    /// Its last run.
    pub(super) run: Option<RunSummary>,
    /// Units that fail, with their state.
    pub(super) failing_units: BTreeMap<String, String>,
    /// The version of the program on it.
    pub(super) version: Option<String>,
    /// Of a machine of a lab, whether it has power.
    pub(super) power: Option<Power>,
    /// Of a machine of a lab, what it is cut off from.
    pub(super) cut_off_from: Vec<String>,
    /// What the state does not say.
    pub(super) note: Option<String>,
}

/// The bootstrap node and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct BootstrapView {
    #[serde(flatten)]
    pub(super) node: NodeView,
    /// Whether the masters have taken over.
    pub(super) complete: bool,
    /// All of them, as in `bootstrap status -o json`.
    pub(super) milestones: Vec<Progress>,
}

/// What a node is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum NodeState {
    /// No master can be asked about it.
    Unknown,
    /// It is a machine of a lab without power.
    Off,
    /// Nothing has been heard of it for a while.
    Silent,
    /// It is there, and its bootstrap has not begun.
    Starting,
    /// Steps are being worked on.
    Working,
    /// Every step that is not done waits for something.
    Waiting,
    /// Its run failed; it is tried again by itself.
    Failed,
    /// Its run was stopped from outside.
    Stopped,
    /// Its run ended without a word.
    Interrupted,
    /// Everything was undone.
    Reset,
    /// Its run is done, and some of its units fail.
    NotReady,
    /// Its run is done and all units are well.
    Ready,
    /// It is a bootstrap node, and the masters have taken over.
    Retired,
}

impl NodeState {
    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Off => "off",
            Self::Silent => "silent",
            Self::Starting => "starting",
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
            Self::Reset => "reset",
            Self::NotReady => "not-ready",
            Self::Ready => "ready",
            Self::Retired => "retired",
        }
    }
}

impl NodeView {
    /// Steps of its last run that are going on, and those that failed.
    pub(super) fn steps(&self) -> &[OpenStep] {
        self.run.as_ref().map_or(&[], |run| &run.steps)
    }
}

impl View {
    /// Whether this master, or the bootstrap node, is of interest.
    pub(super) fn has_master(&self, name: &str) -> bool {
        self.masters.iter().any(|master| master.name == name)
    }

    /// What has a line of its own: a bootstrap node that is not done, then all nodes.
    pub(super) fn rows(&self) -> impl Iterator<Item = &NodeView> {
        let bootstrap = self.bootstrap.iter().map(|bootstrap| &bootstrap.node);
        bootstrap.filter(|node| node.state != NodeState::Retired).chain(&self.nodes)
    }

    /// The same without what changes when nothing happens.
    pub(super) fn essence(&self) -> Self {
        let mut same = Self { time: Timestamp::UNIX_EPOCH, ..self.clone() };
        for master in &mut same.masters {
            master.answered = None;
        }
        let bootstrap = same.bootstrap.iter_mut().map(|bootstrap| &mut bootstrap.node);
        for node in same.nodes.iter_mut().chain(bootstrap) {
            node.heard = None;
        }
        same
    }
}
