//! After the commit: the node works, and has a way back. It has used its Secret by the time it reboots or goes back, so its tokens
//! go then.

use explain::{Diagnostic, Message};

use super::{Effect, Next, Situation, diagnostic};
use crate::{Command, NodeReport, NodeState, Phase, Rollback, codes};

/// The node goes back by itself when its own deadline is over; only one that does not is ordered to.
const GRACE: u64 = 300;

impl Situation<'_> {
    pub(super) fn applying(&self) -> Next {
        let waits_for = match self.report() {
            None => Message::text("the node to report"),
            Some(report) => match report.state {
                NodeState::Rebooting | NodeState::Stage2 | NodeState::Returned | NodeState::Done => {
                    return Next::enter(Phase::Rebooting).after(self.blank());
                }
                NodeState::RollingBack | NodeState::RolledBack | NodeState::Stuck => return self.goes_back(report),
                _ => report.text.clone(),
            },
        };
        if self.is_late(self.object.spec.deadlines.apply.saturating_add(GRACE), true) {
            let message = format!("no progress for {} s: {}", self.object.spec.deadlines.apply, waits_for.message());
            return self.give_up(diagnostic(codes::NOT_APPLIED, message));
        }
        Next::wait(waits_for)
    }

    pub(super) fn rebooting(&self) -> Next {
        let node = self.seen.node.as_ref();
        let not_ready = node.and_then(|node| node.not_ready.as_deref());
        let waits_for = match self.report() {
            Some(report) => match report.state {
                NodeState::RollingBack | NodeState::RolledBack | NodeState::Stuck => return self.goes_back(report),
                NodeState::Returned | NodeState::Done => {
                    // A Node stays Ready for a while after its machine went down: only the boot is proof.
                    let is_this_boot = node.is_some_and(|node| node.boot_id == report.boot_id);
                    match not_ready {
                        None if is_this_boot => return Next::enter(Phase::Gating),
                        Some(why) => Message::text(format!("Ready: {why}")),
                        None => Message::text("the kubelet of the new boot"),
                    }
                }
                NodeState::Rebooting => Message::text("the machine to come back"),
                _ => report.text.clone(),
            },
            None => Message::text("the node to report"),
        };
        let deadlines = &self.object.spec.deadlines;
        // Stage 2 comes before the kubelet, where nothing can be reported: a node that says nothing may be at work.
        let state = self.report().map(|report| report.state);
        let may_work = matches!(state, Some(NodeState::Rebooting | NodeState::Stage2));
        let working = deadlines.apply.saturating_add(deadlines.r#return).saturating_add(GRACE);
        let seconds = if may_work { working } else { deadlines.r#return };
        let is_overdue = state == Some(NodeState::Rebooting) && self.is_late(deadlines.r#return, true);
        if is_overdue && !self.is_late(seconds, true) {
            let message = format!("not back for {} s: it works before its kubelet, or hangs", deadlines.r#return);
            return Next::wait_for(codes::NOT_RETURNED, message);
        }
        if self.is_late(seconds, true) {
            let message = format!("waited {seconds} s for: {}", waits_for.message());
            return self.give_up(diagnostic(codes::NOT_RETURNED, message));
        }
        Next::wait(waits_for)
    }

    pub(super) fn gating(&self) -> Next {
        let status = &self.object.status;
        match self.report() {
            Some(report) if report.state == NodeState::Done => return Next::restore(Phase::Done, None),
            Some(report)
                if matches!(report.state, NodeState::RollingBack | NodeState::RolledBack | NodeState::Stuck) =>
            {
                return self.goes_back(report);
            }
            _ => {}
        }
        // A confirmation cannot be taken back: the node may have acted on it.
        if self.order(Command::Confirm).is_none() {
            let deadlines = &self.object.spec.deadlines;
            if self.is_late(deadlines.gate.saturating_add(deadlines.confirm), false) {
                return Next::failed(Phase::Stuck, self.silent());
            }
            return Next { gates_hold: true, ..Next::wait(Message::text("the node to take note of its confirmation")) };
        }
        let not_ready = self.seen.node.as_ref().map_or(Some("the Node is gone"), |node| node.not_ready.as_deref());
        let unmet = not_ready
            .map(|why| diagnostic(codes::GATES_UNMET, format!("the node is not Ready: {why}")))
            .or_else(|| self.not_returned())
            .or_else(|| self.broken_since());
        match unmet {
            None => {
                let soak = self.object.spec.soak_seconds.0;
                let holds = status.gates_since.is_some_and(|since| super::is_over(since, soak, self.seen.now));
                let order = holds.then_some(Effect::Order(Command::Confirm));
                let waits_for = Message::text(format!("all gates to hold for {soak} s"));
                Next { gates_hold: true, ..Next::wait(waits_for).after(order) }
            }
            Some(unmet) if self.is_late(self.object.spec.deadlines.gate, false) => self.give_up(unmet),
            Some(unmet) => Next::wait(Message::Error(unmet)),
        }
    }

    /// Pods that were Ready before the node was touched, or were not there: what was broken before is not its fault.
    fn broken_since(&self) -> Option<Diagnostic<String>> {
        let before = &self.object.status.not_ready_before;
        let broken: Vec<&str> = self.seen.not_ready_pods.difference(before).map(String::as_str).collect();
        let message = || format!("pods that belong on {} are not Ready: {}", self.object.node(), broken.join(", "));
        (!broken.is_empty()).then(|| diagnostic(codes::GATES_UNMET, message()))
    }

    /// A node is confirmed in the boot in which it waits for that: one that went down since may come back as another.
    fn not_returned(&self) -> Option<Diagnostic<String>> {
        let report = self.report().filter(|report| report.state == NodeState::Returned);
        let is_returned = report.is_some_and(|report| self.is_ready_in_boot_of(report));
        (!is_returned)
            .then(|| diagnostic(codes::GATES_UNMET, "the node does not report that it has returned in its boot"))
    }

    pub(super) fn rolling_back(&self) -> Next {
        let order = self.order(Command::RollBack);
        let waits_for = match self.report() {
            Some(report) => match report.state {
                NodeState::RolledBack => {
                    let node = self.seen.node.as_ref();
                    let not_ready = node.and_then(|node| node.not_ready.as_deref());
                    let is_this_boot = node.is_none_or(|node| node.boot_id == report.boot_id);
                    match not_ready {
                        None if is_this_boot => {
                            let failure = self.object.status.failure.clone();
                            return Next::restore(Phase::RolledBack, failure.or_else(|| report.text.error().cloned()));
                        }
                        why => Message::text(format!("Ready: {}", why.unwrap_or("the kubelet of the new boot"))),
                    }
                }
                NodeState::Stuck => return Next::failed(Phase::Stuck, failure_of(report, codes::STUCK)),
                // It was done before it heard of this: a confirmed node stays what it is.
                NodeState::Done => return Next::restore(Phase::Done, None),
                _ => report.text.clone(),
            },
            None => Message::text("the node to report"),
        };
        let deadlines = &self.object.spec.deadlines;
        // However late it is: a node that was never ordered to has not failed to.
        if order.is_none()
            && self.is_late(deadlines.apply.saturating_add(deadlines.r#return).saturating_add(GRACE), true)
        {
            let message = format!("no progress on the way back: {}", waits_for.message());
            return Next::failed(Phase::Stuck, diagnostic(codes::STUCK, message));
        }
        Next::wait(waits_for).after(order)
    }

    /// The node is ordered to go back, or is left to a person.
    fn give_up(&self, failure: Diagnostic<String>) -> Next {
        match self.object.spec.rollback {
            Rollback::Auto => self.roll_back(failure),
            Rollback::Never => Next::failed(Phase::Stuck, failure),
        }
    }

    /// The node goes back by itself, or stays where it failed.
    fn goes_back(&self, report: &NodeReport) -> Next {
        if report.state == NodeState::Stuck {
            return Next::failed(Phase::Stuck, failure_of(report, codes::STUCK)).after(self.blank());
        }
        self.roll_back(failure_of(report, codes::FAILED))
    }

    /// What the node needs on its way back it has by then.
    fn roll_back(&self, failure: Diagnostic<String>) -> Next {
        Next::failed(Phase::RollingBack, failure).after(self.blank())
    }

    /// Once, and only the Secret of the run: what a user writes or makes afterwards is for another.
    fn blank(&self) -> Option<Effect> {
        let status = &self.object.status;
        let is_unused = status.phase == Phase::Applying && self.seen.secret_uid == status.secret_uid;
        is_unused.then_some(Effect::BlankSecret)
    }
}

fn failure_of(report: &NodeReport, code: explain::Code) -> Diagnostic<String> {
    report.text.error().cloned().unwrap_or_else(|| diagnostic(code, report.text.message()))
}
