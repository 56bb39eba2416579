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
//! Before the commit everything is undone by doing nothing: `before.rs`. After it, the node has a deadline and a way back:
//! `after.rs`. The node alone knows whether it has begun: what it reports for this run counts more than any phase.

mod after;
mod before;
mod note;
mod seen;
mod status;

use explain::{Code, Diagnostic, Message};
use jiff::{SignedDuration, Timestamp};

pub use seen::{Leaving, NodeSeen, SecretSeen, Seen, SlotSeen};
pub use status::advance;

use crate::{Command, NodeReport, NodeState, NodeUpgrade, Phase, names};

/// A node that is labelled again as it was waits for so many seconds, times its attempts.
const BACK_OFF: u64 = 60;
/// And no longer.
const LONGEST_BACK_OFF: u64 = 900;
/// For so many seconds a deleted object waits until all is told.
const LAST_WORDS: u64 = 30;

/// What comes next.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Next {
    /// What is to be done, in this order. Each can be done again.
    pub effects: Vec<Effect>,
    /// The phase that follows once all that is done.
    pub enter: Option<Enter>,
    /// What the node waits for.
    pub waits_for: Option<Message<String>>,
    /// Whether all gates hold; looked at in [`Phase::Gating`] only.
    pub gates_hold: bool,
}

/// Something that is done to the cluster. Whoever does it writes only to the Node and the slot that it has seen, by their
/// versions: a controller that was stopped must not go on in the next run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Take a slot for the node; one that it holds is renewed, which changes its version. Where there is none, nothing follows.
    TakeSlot,
    /// Keep pods away from it.
    Cordon,
    /// Label the Node, so that its door opens: once, for a person may remove the label again.
    Label,
    /// Tell the node what to do.
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
    let it = Looking { object, seen };
    match object.status.phase {
        Phase::Pending => it.pending(),
        Phase::Cordoned => it.cordoned(),
        Phase::Preflight => it.preflight(),
        Phase::Draining => it.draining(),
        Phase::Armed => it.armed(),
        Phase::Applying => it.applying(),
        Phase::Rebooting => it.rebooting(),
        Phase::Gating => it.gating(),
        Phase::RollingBack => it.rolling_back(),
        Phase::Restoring => it.restoring(),
        Phase::Done | Phase::Refused | Phase::RolledBack | Phase::Stuck => it.ended(),
    }
}

/// The object and what is seen.
struct Looking<'a> {
    object: &'a NodeUpgrade,
    seen: &'a Seen,
}

impl Looking<'_> {
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
        // Nobody may have looked for longer than the deadline: what is new now was done in time.
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

    fn restoring(&self) -> Next {
        let ending = self.object.status.ending.unwrap_or(Phase::Refused);
        // The order first: an armed node must not take the removal of the label for the commit.
        let restore = [Effect::RemoveOrder, Effect::RemoveLabel, Effect::Restore];
        let restore = restore.into_iter().filter(|_| self.seen.node.is_some());
        Next::enter(ending).after(restore.chain([Effect::ReleaseSlot]).collect::<Vec<_>>())
    }

    fn ended(&self) -> Next {
        let (object, status) = (self.object, &self.object.status);
        let is_stuck = status.phase == Phase::Stuck;
        if self.is_deleted() {
            if let Some(report) = self.at_work().filter(|_| is_stuck) {
                let (run, state, node) = (&report.run, report.state, object.node());
                let what = format!("the end of run {run}, which the node still works on: `{state}`");
                return Next::wait(Message::text(format!("{what}; if the machine is gone, delete Node {node}")));
            }
            if let Some(untold) = self.untold() {
                return untold;
            }
            let restore = [Effect::RemoveOrder, Effect::RemoveLabel, Effect::Restore];
            let restore = restore.into_iter().filter(|_| is_stuck && self.seen.node.is_some());
            let secret = self.is_secret_of_run().then_some(Effect::DeleteSecret);
            let effects = restore.chain([Effect::ReleaseSlot]).chain(secret).chain([Effect::RemoveFinalizer]);
            return Next::default().after(effects.collect::<Vec<_>>());
        }
        if let Some(ending) = self.late_ending().filter(|_| is_stuck) {
            return Next::restore(ending, None);
        }
        let is_asked = object.metadata.generation.is_some_and(|generation| generation != status.observed_generation)
            || object.annotation(names::RETRY_ANNOTATION) != status.retried.as_deref();
        // Every run removes the label at its end, so one that is there is a new wish.
        let is_labelled = self.seen.node.as_ref().is_some_and(|node| node.is_labelled) && !is_stuck;
        // Taken by a controller that had not heard of the end.
        let slot = (self.seen.slot == SlotSeen::Held && !is_stuck).then_some(Effect::ReleaseSlot);
        match &self.seen.secret {
            _ if is_asked => Next::enter(Phase::Pending),
            SecretSeen::Missing(name) if is_labelled && status.phase == Phase::Done => {
                let message = format!("labelled again, and there is no Secret {name}");
                Next::wait_for(crate::codes::NO_SECRET, message).after(slot)
            }
            _ if is_labelled => match self.back_off() {
                Some(waits) => waits.after(slot),
                None => Next::enter(Phase::Pending),
            },
            _ => {
                let is_used_up = self.is_secret_of_run() && status.outbox.is_settled();
                let secret = is_used_up.then_some(Effect::DeleteSecret);
                Next::default().after(slot.into_iter().chain(secret).collect::<Vec<_>>())
            }
        }
    }

    /// Something that labels a node again and again changes nothing about what was wrong with it. A person who has stopped it
    /// may want it after all.
    fn back_off(&self) -> Option<Next> {
        let status = &self.object.status;
        let has_failed = matches!(status.phase, Phase::Refused | Phase::RolledBack);
        let is_stopped = status.failure.as_ref().is_some_and(|failure| failure.code == crate::codes::ABORTED.id);
        let is_the_same = has_failed && !is_stopped && self.seen.secret_uid == status.secret_uid;
        let seconds = u64::from(status.attempt).saturating_mul(BACK_OFF).min(LONGEST_BACK_OFF);
        let is_over = status.since.is_none_or(|since| is_over(since, seconds, self.seen.now));
        let message = format!(
            "labelled again, and nothing has changed: attempt {} begins {seconds} s after the last has ended, or at once with a \
             new Secret or the annotation {}",
            status.attempt.saturating_add(1),
            names::RETRY_ANNOTATION,
        );
        (is_the_same && !is_over).then(|| Next::wait(Message::text(message)))
    }

    /// The Secret of a run that is done is of use only to tell so. One that has come in its place is a user's, for another run.
    fn is_secret_of_run(&self) -> bool {
        let (status, uid) = (&self.object.status, &self.seen.secret_uid);
        status.phase == Phase::Done && uid.is_some() && *uid == status.secret_uid
    }

    /// An object that goes takes what is still to be told with it; an API that does not answer does not keep it.
    fn untold(&self) -> Option<Next> {
        let since = self.object.metadata.deletion_timestamp.as_ref()?.0;
        let is_told = self.object.status.outbox.is_settled() || is_over(since, LAST_WORDS, self.seen.now);
        (!is_told).then(|| Next::wait(Message::text("the progress API to hear how it ended")))
    }

    /// The end that a node which was silent for too long has come to by itself.
    fn late_ending(&self) -> Option<Phase> {
        let report = self.report()?;
        match report.state {
            NodeState::Refused | NodeState::Disarmed => Some(Phase::Refused),
            NodeState::Checking | NodeState::Checked if self.order(Command::Check).is_none() => Some(Phase::Refused),
            NodeState::RolledBack if self.is_ready_in_boot_of(report) => Some(Phase::RolledBack),
            NodeState::Done if self.is_ready_in_boot_of(report) => Some(Phase::Done),
            _ => None,
        }
    }
}

fn is_over(since: Timestamp, seconds: u64, now: Timestamp) -> bool {
    now.duration_since(since) > SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
