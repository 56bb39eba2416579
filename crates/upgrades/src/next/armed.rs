//! The moment of the commit: the node may begin, and for a while it alone knows whether it has.

use explain::{Diagnostic, Message};

use super::{Effect, Next, Situation, before::refused};
use crate::{Command, NodeState, Phase};

impl Situation<'_> {
    pub(super) fn armed(&self) -> Next {
        let report = self.report();
        if report.is_some_and(|report| report.state.has_begun()) {
            return Next::enter(Phase::Applying);
        }
        let Some(node) = &self.seen.node else { return self.vanished() };
        let state = report.map(|report| report.state);
        // Only a person removes the label of a node that does not report to be armed.
        let is_late = self.is_late(self.object.spec.deadlines.arm, false);
        let is_taken_back = self.is_aborted() || (!node.is_labelled && state != Some(NodeState::Armed) && !is_late);
        if let Some(report) = report.filter(|report| matches!(report.state, NodeState::Refused | NodeState::Disarmed)) {
            let has_reason = report.text.error().is_some() || !report.problems.is_empty();
            let is_wanted = is_taken_back && (self.is_aborted() || !has_reason);
            return if is_wanted { Next::restore(Phase::Refused, Some(self.taken_back())) } else { refused(report) };
        }
        // Once ordered to stop it is never ordered to be armed again: it may be given back at any moment.
        let is_ordered_to_stop = self.order(Command::Stop).is_none();
        if is_ordered_to_stop || is_taken_back || is_late {
            let failure = if is_taken_back { self.taken_back() } else { self.silent() };
            return self.stop(!node.is_labelled || state == Some(NodeState::Armed), failure);
        }
        let commit =
            (self.seen.commits && state == Some(NodeState::Armed) && node.is_labelled).then_some(Effect::RemoveLabel);
        let waits_for = match state {
            Some(NodeState::Armed) => "the label to be removed, and the node to begin",
            _ => "the node to be armed",
        };
        Next::wait(Message::text(waits_for))
            .after(self.order(Command::Arm).into_iter().chain(commit).collect::<Vec<_>>())
    }

    /// The node commits once it has reported to be armed and sees the label gone under the order to be armed. A label that is
    /// there is no proof that it was never gone: users add it again. So an armed node alone knows.
    fn stop(&self, may_have_begun: bool, failure: Diagnostic<String>) -> Next {
        let deadlines = &self.object.spec.deadlines;
        match self.order(Command::Stop) {
            Some(order) => Next::wait(Message::text("the node to be disarmed")).after([order]),
            None if !may_have_begun => Next::restore(Phase::Refused, Some(failure)),
            None if self.is_late(deadlines.arm.saturating_add(deadlines.r#return), false) => {
                Next::failed(Phase::Stuck, self.silent())
            }
            None => Next::wait(Message::text("the node to report whether it has begun")),
        }
    }

    /// Its report is gone with it: an armed node may have begun, and may register again.
    fn vanished(&self) -> Next {
        let deadlines = &self.object.spec.deadlines;
        if self.is_deleted() {
            return Next::restore(Phase::Refused, Some(self.gone()));
        }
        if self.is_late(deadlines.arm.saturating_add(deadlines.r#return), false) {
            return Next::failed(Phase::Stuck, self.gone());
        }
        Next::wait(Message::Error(self.gone()))
    }
}
