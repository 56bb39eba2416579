//! Before the commit: nothing is changed on the node, and stopping is giving it back.

use explain::{Diagnostic, Message, counted};

use super::{Effect, Next, SecretSeen, Situation, SlotSeen, diagnostic};
use crate::{Command, DrainPolicy, NodeReport, NodeState, OnTimeout, Phase, codes, names};

impl Situation<'_> {
    pub(super) fn pending(&self) -> Next {
        let seen = self.seen;
        let is_as_it_was = !self.object.status.is_as_left();
        if self.is_deleted() && is_as_it_was {
            if let Some(unreported) = self.unreported() {
                return unreported;
            }
            return Next::default().after([Effect::ReleaseSlot, Effect::RemoveFinalizer]);
        }
        if self.is_aborted() {
            return self.give_back(aborted());
        }
        if let Some(lacks) = self.lacks() {
            let is_kept_from_others = seen.slot == SlotSeen::Held && is_as_it_was;
            return lacks.after(is_kept_from_others.then_some(Effect::ReleaseSlot));
        }
        match &seen.slot {
            SlotSeen::Held => Next::enter(Phase::Cordoned),
            // The nodes that hold a slot are the reason why others are not Ready.
            SlotSeen::Full(holders) => no_slot(holders),
            SlotSeen::Free => match &seen.others {
                Some(why) => Next::wait_for(codes::OTHERS_NOT_READY, why),
                None => Next::default().after([Effect::TakeSlot]),
            },
        }
    }

    /// What the run cannot begin without.
    fn lacks(&self) -> Option<Next> {
        let seen = self.seen;
        if seen.node.is_none() {
            return Some(Next::wait_for(codes::NODE_GONE, format!("there is no Node {}", self.object.node())));
        }
        match &seen.secret {
            SecretSeen::Missing(name) => {
                let message = format!("there is no Secret {name} in {}", names::NAMESPACE);
                return Some(Next::wait_for(codes::NO_SECRET, message));
            }
            SecretSeen::Bad(why) => return Some(Next::wait_for(codes::BAD_SECRET, why)),
            SecretSeen::For(_) => {}
        }
        seen.no_progress.as_ref().map(|why| Next::wait_for(codes::PROGRESS_REQUIRED, why))
    }

    /// The slot is taken once more: a controller that saw this node Pending may have just released it, or may be about to. One that
    /// is to be tried again has no label; from here on it has one, so that its removal is a user's wish.
    pub(super) fn cordoned(&self) -> Next {
        if self.is_aborted() {
            return self.give_back(aborted());
        }
        let Some(node) = &self.seen.node else { return Next::restore(Phase::Refused, Some(self.gone())) };
        if let SlotSeen::Full(holders) = &self.seen.slot {
            return no_slot(holders);
        }
        let lacks = [(node.is_cordoned, Effect::Cordon), (node.is_labelled, Effect::Label)];
        let lacks: Vec<Effect> = lacks.into_iter().filter(|(has, _)| !has).map(|(_, effect)| effect).collect();
        let next = if lacks.is_empty() {
            Next::enter(Phase::Preflight)
        } else {
            Next::wait(Message::text("being cordoned and labelled"))
        };
        next.after([Effect::TakeSlot].into_iter().chain(lacks).collect::<Vec<_>>())
    }

    pub(super) fn preflight(&self) -> Next {
        let Some(node) = &self.seen.node else { return Next::restore(Phase::Refused, Some(self.gone())) };
        if self.is_aborted() || !node.is_labelled {
            return self.give_back(self.taken_back());
        }
        let order = self.order(Command::Check);
        let late = self.is_late(self.object.spec.deadlines.preflight, false);
        let next = match self.report() {
            Some(report) if report.state.has_begun() => return Next::enter(Phase::Applying),
            Some(report) if matches!(report.state, NodeState::Refused | NodeState::Disarmed) => return refused(report),
            Some(report) if report.state == NodeState::Checked => return self.checked(report),
            Some(report) if late => {
                return Next::restore(Phase::Refused, Some(unmet(report, "preflight takes too long")));
            }
            Some(report) => Next::wait(report.text.clone()),
            None if late => return self.give_back(self.silent()),
            None if self.seen.commits => Next::wait(Message::text("the node's agent to report")),
            None => Next::wait(Message::text("the node's pod to report")),
        };
        next.after(order)
    }

    /// The node is given back as it was, unless it still works on another run: a person asked again while it was Stuck.
    fn give_back(&self, failure: Diagnostic<String>) -> Next {
        let other = self.at_work().filter(|_| self.object.status.snapshot.is_some());
        let Some(other) = other else { return Next::restore(Phase::Refused, Some(failure)) };
        let message = self.works_on(other);
        Next::failed(Phase::Stuck, diagnostic(codes::NO_ANSWER, message))
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
        let Some(node) = &self.seen.node else { return Next::restore(Phase::Refused, Some(self.gone())) };
        if self.is_aborted() || !node.is_labelled {
            return Next::restore(Phase::Refused, Some(self.taken_back()));
        }
        if drain.policy == DrainPolicy::Never {
            return Next::enter(Phase::Armed);
        }
        let late = self.is_late(drain.timeout_seconds, false);
        let deletes = drain.on_timeout == OnTimeout::Delete;
        // What was deleted may hang on a finalizer, and its volumes leave after it: as long again.
        let still_leaves = deletes && !self.is_late(drain.timeout_seconds.saturating_mul(2), false);
        let waited = |what: &str| format!("{what}; waited for {} s", drain.timeout_seconds);
        match (&leaving.pods, &leaving.volumes) {
            (Some(pods), _) if !late => Next::wait(Message::text(pods)).after([Effect::Evict]),
            (Some(pods), _) if still_leaves => Next::wait(Message::text(pods)).after([Effect::DeletePods]),
            (Some(pods), _) => Next::restore(Phase::Refused, Some(diagnostic(codes::NOT_DRAINED, waited(pods)))),
            (None, Some(volumes)) if !late || still_leaves => Next::wait(Message::text(volumes)),
            (None, Some(volumes)) if !deletes => {
                Next::restore(Phase::Refused, Some(diagnostic(codes::VOLUMES_ATTACHED, waited(volumes))))
            }
            (None, _) => Next::enter(Phase::Armed),
        }
    }

    /// A person wants it to stop, and says so by the annotation or by the label.
    pub(super) fn taken_back(&self) -> Diagnostic<String> {
        if self.is_aborted() {
            return aborted();
        }
        diagnostic(codes::ABORTED, "its label was removed before the node began")
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

fn no_slot(holders: &str) -> Next {
    Next::wait_for(codes::NO_SLOT, format!("all slots are held: {holders}"))
}

fn aborted() -> Diagnostic<String> {
    diagnostic(codes::ABORTED, "stopped before the node began")
}

pub(super) fn refused(report: &NodeReport) -> Next {
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
