//! Before the commit: nothing is changed on the node, and stopping is giving it back.

use explain::{Diagnostic, Message, counted};

use super::{Effect, Looking, Next, SecretSeen, SlotSeen, diagnostic};
use crate::{Command, DrainPolicy, NodeReport, NodeState, OnTimeout, Phase, codes, names};

impl Looking<'_> {
    pub(super) fn pending(&self) -> Next {
        let seen = self.seen;
        if self.is_deleted() {
            return Next::default().after([Effect::ReleaseSlot, Effect::RemoveFinalizer]);
        }
        if self.is_aborted() {
            return Next::restore(Phase::Refused, Some(aborted()));
        }
        if seen.node.is_none() {
            return Next::wait_for(codes::NODE_GONE, format!("there is no Node {}", self.object.node()));
        }
        match &seen.secret {
            SecretSeen::Missing(name) => {
                let message = format!("there is no Secret {name} in {}", names::NAMESPACE);
                return Next::wait_for(codes::NO_SECRET, message);
            }
            SecretSeen::Bad(why) => return Next::wait_for(codes::BAD_SECRET, why),
            SecretSeen::For(_) => {}
        }
        if let Some(why) = &seen.no_progress {
            return Next::wait_for(codes::PROGRESS_REQUIRED, why);
        }
        match &seen.slot {
            SlotSeen::Held => Next::enter(Phase::Cordoned),
            // Whoever holds a slot is the reason why others are not Ready.
            SlotSeen::Full(holders) => Next::wait_for(codes::NO_SLOT, format!("all slots are held: {holders}")),
            SlotSeen::Free => match &seen.others {
                Some(why) => Next::wait_for(codes::OTHERS_NOT_READY, why),
                None => Next::default().after([Effect::TakeSlot]),
            },
        }
    }

    pub(super) fn cordoned(&self) -> Next {
        match &self.seen.node {
            _ if self.is_aborted() => Next::restore(Phase::Refused, Some(aborted())),
            None => Next::restore(Phase::Refused, Some(self.gone())),
            Some(node) if node.is_cordoned => Next::enter(Phase::Preflight),
            Some(_) => Next::wait(Message::text("being cordoned")).after([Effect::Cordon]),
        }
    }

    pub(super) fn preflight(&self) -> Next {
        let Some(node) = &self.seen.node else { return Next::restore(Phase::Refused, Some(self.gone())) };
        if self.is_aborted() {
            return Next::restore(Phase::Refused, Some(aborted()));
        }
        let effects = self.order(Command::Check).into_iter().chain((!node.is_labelled).then_some(Effect::Label));
        let late = self.is_late(self.object.spec.deadlines.preflight, false);
        let next = match self.report() {
            Some(report) if report.state.has_begun() => return Next::enter(Phase::Applying),
            Some(report) if report.state == NodeState::Refused => return refused(report),
            Some(report) if report.state == NodeState::Checked => return self.checked(report),
            Some(report) if late => {
                return Next::restore(Phase::Refused, Some(unmet(report, "preflight takes too long")));
            }
            Some(report) => Next::wait(report.text.clone()),
            None if late => return Next::restore(Phase::Refused, Some(self.silent())),
            None => Next::wait(Message::text("the node's pod to report")),
        };
        next.after(effects.collect::<Vec<_>>())
    }

    fn checked(&self, report: &NodeReport) -> Next {
        let is_refused = report.target().is_some() && report.target() == self.object.status.refused_target.as_deref();
        if is_refused {
            let message = format!("{} was rolled back on this node", report.target().unwrap_or_default());
            return Next::restore(Phase::Refused, Some(diagnostic(codes::REFUSED_BEFORE, message)));
        }
        Next::enter(Phase::Draining)
    }

    pub(super) fn draining(&self) -> Next {
        let (drain, leaving) = (&self.object.spec.drain, &self.seen.leaving);
        if self.seen.node.is_none() {
            return Next::restore(Phase::Refused, Some(self.gone()));
        }
        if self.is_aborted() {
            return Next::restore(Phase::Refused, Some(aborted()));
        }
        if drain.policy == DrainPolicy::Never {
            return Next::enter(Phase::Armed);
        }
        let late = self.is_late(drain.timeout_seconds, false);
        let waited = |what: &str| format!("{what}; waited for {} s", drain.timeout_seconds);
        match (&leaving.pods, &leaving.volumes) {
            (Some(pods), _) if !late => Next::wait(Message::text(pods)).after([Effect::Evict]),
            (Some(pods), _) if drain.on_timeout == OnTimeout::Delete => {
                Next::wait(Message::text(pods)).after([Effect::DeletePods])
            }
            (Some(pods), _) => Next::restore(Phase::Refused, Some(diagnostic(codes::NOT_DRAINED, waited(pods)))),
            (None, Some(volumes)) if !late => Next::wait(Message::text(volumes)),
            (None, Some(volumes)) if drain.on_timeout == OnTimeout::Stop => {
                Next::restore(Phase::Refused, Some(diagnostic(codes::VOLUMES_ATTACHED, waited(volumes))))
            }
            (None, _) => Next::enter(Phase::Armed),
        }
    }

    pub(super) fn armed(&self) -> Next {
        let report = self.report();
        if report.is_some_and(|report| report.state.has_begun()) {
            return Next::enter(Phase::Applying);
        }
        let Some(node) = &self.seen.node else { return Next::restore(Phase::Refused, Some(self.gone())) };
        let state = report.map(|report| report.state);
        if let Some(report) = report.filter(|report| matches!(report.state, NodeState::Refused | NodeState::Disarmed)) {
            return refused(report);
        }
        if self.is_aborted() || self.is_late(self.object.spec.deadlines.arm, false) {
            let failure = if self.is_aborted() { aborted() } else { self.silent() };
            return self.stop(node.is_labelled, failure);
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

    /// The node commits once it sees the label gone under the order to be armed. With another order on a Node that still has the
    /// label it never does; where the label is gone, it alone knows.
    fn stop(&self, is_labelled: bool, failure: Diagnostic<String>) -> Next {
        match self.order(Command::Stop) {
            Some(order) => Next::wait(Message::text("the node to be disarmed")).after([order]),
            None if is_labelled => Next::restore(Phase::Refused, Some(failure)),
            None if self.is_late(self.object.spec.deadlines.arm + self.object.spec.deadlines.r#return, false) => {
                Next::failed(Phase::Stuck, self.silent())
            }
            None => Next::wait(Message::text("the node to report whether it has begun")),
        }
    }

    pub(super) fn gone(&self) -> Diagnostic<String> {
        diagnostic(codes::NODE_GONE, format!("Node {} is gone", self.object.node()))
    }

    pub(super) fn silent(&self) -> Diagnostic<String> {
        let message = match self.report() {
            Some(report) => format!("the last report is `{}`: {}", report.state, report.text.message()),
            None => "it has not reported anything for this run".to_owned(),
        };
        diagnostic(codes::NO_ANSWER, message)
    }
}

fn aborted() -> Diagnostic<String> {
    diagnostic(codes::ABORTED, "stopped before the node began")
}

fn refused(report: &NodeReport) -> Next {
    Next::restore(Phase::Refused, Some(unmet(report, "the node refuses")))
}

/// All that preflight found, with the first one's advice.
fn unmet(report: &NodeReport, otherwise: &str) -> Diagnostic<String> {
    let Some(first) = report.problems.first() else {
        return match report.text.error() {
            Some(error) => error.clone(),
            None => diagnostic(codes::CHECKS_UNMET, format!("{otherwise}: {}", report.text.message())),
        };
    };
    let all: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    let message = format!("{}: {}", counted(all.len(), "problem"), all.join("; "));
    Diagnostic { hint: first.hint.clone(), ..diagnostic(codes::CHECKS_UNMET, message) }
}
