//! What comes next for a node. Pure: from the object and what is seen now, never from anything remembered elsewhere.
//!
//! ```text
//! Pending ─► Cordoned ─► Preflight ─► Draining ─► Armed ═╦═► Applying ─► Rebooting ─► Gating ─► Restoring ─► Done
//!    │           │           │            │          │    ║       │           │           │          ▲
//!    │           └───────────┴────────────┴──────────┘    ║       └───────────┴───────────┘          │
//!    ▼                        ▼                        commit                 ▼                      │
//! Refused ◄─────────────── Restoring                 (label gone)        RollingBack ─► RolledBack (by Restoring)
//!                                                                             └─► Stuck ─► Restoring, if it ends after all
//! ```
//! Before the commit everything is undone by doing nothing: `before.rs`, and `armed.rs`, where the cluster cannot know for a while. After
//! it, the node has a deadline and a way back: `after.rs`. What ends a run, and what begins another: `ended.rs`. The node alone knows whether it has begun: what it reports for this run counts more than any phase.

mod after;
mod armed;
mod before;
mod ended;
mod note;
mod seen;
mod status;

use explain::{Code, Diagnostic, Message};
use jiff::{SignedDuration, Timestamp};

pub use seen::{Leaving, NodeSeen, SecretSeen, Seen, SlotSeen};
pub use status::advance;

use crate::{Command, NodeReport, NodeUpgrade, Phase, names};

/// What comes next.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Next {
    /// What is to be done, in this order. Each can be done again.
    pub effects: Vec<Effect>,
    /// The phase that follows once all that is done.
    pub enter: Option<Enter>,
    /// What the node waits for.
    pub waits_for: Option<Message<String>>,
    /// Whether all gates hold; observed in [`Phase::Gating`] only.
    pub gates_hold: bool,
}

/// Something that is done to the cluster. The controller writes only to the Node and the slot that it has seen, by their
/// versions: a controller that was stopped must not go on in the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Take a slot for the node; one that it holds is renewed, which changes its version. Where there is none, nothing follows.
    TakeSlot,
    /// Keep pods away from it.
    Cordon,
    /// Label the Node, so that its door opens: once, for a person may remove the label again.
    Label,
    /// Order the node what to do.
    Order(Command),
    /// Ask its pods to leave.
    Evict,
    /// Delete those that have not left.
    DeletePods,
    /// Remove from the Secret what only the node needed.
    BlankSecret,
    /// Remove the label: where no pod does it, this is the commit.
    RemoveLabel,
    /// Labels, taints and cordon as they were.
    Restore,
    /// Nothing more to do for the node. It always changes the version of the Node, so that no older decision is done any more.
    RemoveOrder,
    /// The Secret is of no use any more.
    DeleteSecret,
    /// Another node may be taken.
    ReleaseSlot,
    /// The object may go.
    RemoveFinalizer,
}

/// A phase that is entered.
#[derive(Debug, Clone, PartialEq)]
pub struct Enter {
    /// Which.
    pub phase: Phase,
    /// Why, where something went wrong.
    pub failure: Option<Diagnostic<String>>,
    /// Which end it leads to.
    pub ending: Option<Phase>,
}

impl Next {
    fn enter(phase: Phase) -> Self {
        Self { enter: Some(Enter { phase, failure: None, ending: None }), ..Self::default() }
    }

    fn failed(phase: Phase, failure: Diagnostic<String>) -> Self {
        Self { enter: Some(Enter { phase, failure: Some(failure), ending: None }), ..Self::default() }
    }

    /// The node is given back as it was.
    fn restore(ending: Phase, failure: Option<Diagnostic<String>>) -> Self {
        let ending = Some(ending);
        Self { enter: Some(Enter { phase: Phase::Restoring, failure, ending }), ..Self::default() }
    }

    fn wait(message: Message<String>) -> Self {
        Self { waits_for: Some(message), ..Self::default() }
    }

    fn wait_for(code: Code, message: impl Into<String>) -> Self {
        Self::wait(Message::Error(diagnostic(code, message)))
    }

    fn after(mut self, effects: impl IntoIterator<Item = Effect>) -> Self {
        self.effects.splice(0..0, effects);
        self
    }
}

fn diagnostic(code: Code, message: impl Into<String>) -> Diagnostic<String> {
    Diagnostic::new(code, message).recorded()
}

/// What comes next for a node, from its phase.
pub fn next(object: &NodeUpgrade, seen: &Seen) -> Next {
    let situation = Situation { object, seen };
    match object.status.phase {
        Phase::Pending => situation.pending(),
        Phase::Cordoned => situation.cordoned(),
        Phase::Preflight => situation.preflight(),
        Phase::Draining => situation.draining(),
        Phase::Armed => situation.armed(),
        Phase::Applying => situation.applying(),
        Phase::Rebooting => situation.rebooting(),
        Phase::Gating => situation.gating(),
        Phase::RollingBack => situation.rolling_back(),
        Phase::Restoring => situation.restoring(),
        Phase::Done | Phase::Refused | Phase::RolledBack | Phase::Stuck => situation.ended(),
    }
}

/// The object and what is seen.
struct Situation<'a> {
    object: &'a NodeUpgrade,
    seen: &'a Seen,
}

impl Situation<'_> {
    /// What the node reports for this run.
    fn report(&self) -> Option<&NodeReport> {
        self.seen.report.as_ref().filter(|report| Some(&report.run) == self.object.status.run.as_ref())
    }

    fn is_deleted(&self) -> bool {
        self.object.metadata.deletion_timestamp.is_some()
    }

    /// A user wants it to stop. What was followed once, or came when it was too late, is no wish for another run.
    fn is_aborted(&self) -> bool {
        let asked = self.object.annotation(names::ABORT_ANNOTATION);
        self.is_deleted() || (asked.is_some() && asked != self.object.status.aborted.as_deref())
    }

    /// Whether so many seconds have passed since the phase began, or since the node showed progress.
    fn is_late(&self, seconds: u64, counts_progress: bool) -> bool {
        let status = &self.object.status;
        // No controller may have run for longer than the deadline: what is new now was done in time.
        if counts_progress && self.has_progressed() {
            return false;
        }
        let progress = status.progress.map(|progress| progress.at).filter(|_| counts_progress);
        let Some(since) = status.since.max(progress) else { return false };
        is_over(since, seconds, self.seen.now)
    }

    /// The node shows progress that is not noted yet.
    fn has_progressed(&self) -> bool {
        let noted = self.object.status.progress.map(|progress| progress.count);
        self.report().is_some_and(|report| Some(report.progress) != noted)
    }

    /// What a node that is at work reports, for whatever run.
    fn at_work(&self) -> Option<&NodeReport> {
        self.seen.report.as_ref().filter(|report| report.state.has_begun() && !report.state.is_end())
    }

    /// What a machine that was repaired by hand, or is gone, has reported last stays on its Node.
    fn works_on(&self, report: &NodeReport) -> String {
        let (run, state, annotation, node) = (&report.run, report.state, names::REPORT_ANNOTATION, self.object.node());
        let otherwise = format!("if nothing works there any more, remove the annotation {annotation} of Node {node}");
        format!("the node still works on run {run}: `{state}`; {otherwise}")
    }

    /// The node is Ready in the very boot that it reports.
    fn is_ready_in_boot_of(&self, report: &NodeReport) -> bool {
        self.seen.node.as_ref().is_some_and(|node| node.not_ready.is_none() && node.boot_id == report.boot_id)
    }

    /// An order, unless the node has it already.
    fn order(&self, command: Command) -> Option<Effect> {
        let run = self.object.status.run.as_ref();
        let given = self.seen.node.as_ref().and_then(|node| node.order.as_ref());
        let is_given = given.is_some_and(|order| Some(&order.run) == run && order.command == command);
        (!is_given).then_some(Effect::Order(command))
    }
}

fn is_over(since: Timestamp, seconds: u64, now: Timestamp) -> bool {
    now.duration_since(since) > SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
