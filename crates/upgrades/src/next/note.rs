//! What is to be reported of the progress of a node: each phase that is entered, and each state that the node reports. Pure.
//!
//! Both are noted in the status that is about to be written, so that nothing is reported that did not happen, and nothing happens
//! that is not reported. The same seen again is noted once.

use super::Seen;
use crate::{
    NodeReport, NodeUpgradeStatus, Phase,
    progress::{Event, Noted},
};

/// Notes the state of the node, where it is another than the last one of this run.
pub(super) fn note_state(status: &mut NodeUpgradeStatus, seen: &Seen) {
    let Some(report) = report(status, seen) else { return };
    let noted = Noted { run: report.run.clone(), state: report.state };
    if status.outbox.noted.as_ref() == Some(&noted) {
        return;
    }
    let event = Event {
        code: report.text.error().map(|error| error.code.clone()),
        message: report.text.message().to_owned(),
        ..event(status, seen)
    };
    status.outbox.noted = Some(noted);
    status.outbox.push(event);
}

/// Notes the phase: one that was entered, the first of all, and the one in which a node waits for nothing but the API.
pub(super) fn note_phase(status: &mut NodeUpgradeStatus, seen: &Seen, is_entered: bool) {
    let is_first = status.outbox.seq == 0;
    let is_held_up =
        status.phase == Phase::Pending && seen.no_progress.is_some() && status.outbox.has_nothing_to_ask(seen.now);
    if !is_entered && !is_first && !is_held_up {
        return;
    }
    let failure = status.failure.as_ref().filter(|_| is_failed(status));
    let event = Event {
        code: failure.map(|failure| failure.code.clone()),
        message: failure.map_or(sentence(status.phase), |failure| &failure.message).to_owned(),
        ..event(status, seen)
    };
    // One that wants to hear nothing is asked again only by a node that may not go on without it.
    status.outbox.stopped &= !is_held_up;
    status.outbox.push(event);
}

fn report<'a>(status: &NodeUpgradeStatus, seen: &'a Seen) -> Option<&'a NodeReport> {
    seen.report.as_ref().filter(|report| Some(&report.run) == status.run.as_ref())
}

fn event(status: &NodeUpgradeStatus, seen: &Seen) -> Event {
    Event {
        at: seen.now,
        run: status.run.clone(),
        phase: status.phase,
        from: status.from.clone(),
        to: status.to.clone(),
        attempt: status.attempt,
        node_state: report(status, seen).map(|report| report.state),
        ..Event::default()
    }
}

/// Whether the failure that is noted is why the node is in this phase: one that turned out well may have had one, too.
fn is_failed(status: &NodeUpgradeStatus) -> bool {
    match status.phase {
        Phase::Restoring => status.ending != Some(Phase::Done),
        phase => matches!(phase, Phase::RollingBack | Phase::Refused | Phase::RolledBack | Phase::Stuck),
    }
}

const fn sentence(phase: Phase) -> &'static str {
    match phase {
        Phase::Pending => "waits for its Secret, for a slot, for other nodes",
        Phase::Cordoned => "is being cordoned",
        Phase::Preflight => "checks whether the work can be done",
        Phase::Draining => "its pods leave it",
        Phase::Armed => "is ready to begin",
        Phase::Applying => "works",
        Phase::Rebooting => "reboots",
        Phase::Gating => "is back, and is watched",
        Phase::Restoring => "labels, taints and cordon come back",
        Phase::RollingBack => "goes back to what it was",
        Phase::Done => "all was done",
        Phase::Refused => "nothing was changed",
        Phase::RolledBack => "is what it was before",
        Phase::Stuck => "could not go back, and is left to a person",
    }
}

#[cfg(test)]
mod tests;
