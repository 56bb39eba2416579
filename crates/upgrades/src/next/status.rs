//! The status after what comes next was done. Pure.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{Enter, Next, SecretSeen, Seen, note};
use crate::{NodeUpgrade, NodeUpgradeStatus, Phase, conditions, names, object::Progress};

/// The status after what comes next was done; the same if nothing is new.
pub fn advance(object: &NodeUpgrade, seen: &Seen, next: &Next) -> NodeUpgradeStatus {
    let mut status = object.status.clone();
    status.waits_for.clone_from(&next.waits_for);
    // One that is gone may come again with the same value.
    status.aborted = status.aborted.filter(|_| abort(object).is_some());
    note_progress(&mut status, seen);
    // Before a phase is entered: the node says it of the one that it is in.
    note::note_state(&mut status, seen);
    status.gates_since = match (next.gates_hold, status.gates_since) {
        (false, _) => None,
        (true, since) => since.or(Some(seen.now)),
    };
    if let Some(enter) = &next.enter {
        enter_phase(&mut status, object, seen, enter);
    }
    note::note_phase(&mut status, seen, next.enter.is_some());
    status.conditions = conditions(&status, seen.now);
    status
}

fn enter_phase(status: &mut NodeUpgradeStatus, object: &NodeUpgrade, seen: &Seen, enter: &Enter) {
    let Enter { phase, failure, ending } = enter;
    if object.status.phase == Phase::Pending {
        observe(status, object);
    }
    match phase {
        Phase::Pending => begin_again(status, object),
        Phase::Cordoned => take_away(status, object, seen),
        _ => {}
    }
    status.phase = *phase;
    status.since = Some(seen.now);
    status.ending = *ending;
    if let Some(failure) = failure {
        // The first cause counts: what follows from it is in the node's journal.
        status.failure.get_or_insert_with(|| failure.clone());
    }
    if *phase == Phase::Done {
        // It was given up too early: it was confirmed, or it came back after all.
        status.failure = None;
    }
    if *phase == Phase::RolledBack {
        let report = seen.report.as_ref().filter(|report| Some(&report.run) == status.run.as_ref());
        let target = report.and_then(|report| report.target()).map(str::to_owned);
        status.refused_target = target.or_else(|| status.refused_target.take());
    }
    if *phase == Phase::Restoring || phase.is_end() {
        status.aborted = abort(object);
    }
    if *phase == Phase::Done {
        // What was changed meanwhile was wanted of this run.
        status.observed_generation = object.metadata.generation.unwrap_or_default();
    }
    if phase.is_end() {
        (status.waits_for, status.gates_since) = (None, None);
        // A stuck node was not restored.
        if *phase != Phase::Stuck {
            (status.snapshot, status.not_ready_before) = (None, BTreeSet::new());
        }
    }
}

/// Another attempt: what the last one left is forgotten, but for what it says of the target.
fn begin_again(status: &mut NodeUpgradeStatus, object: &NodeUpgrade) {
    let retry = object.annotation(names::RETRY_ANNOTATION).map(str::to_owned);
    let is_retry = retry != status.retried;
    *status = NodeUpgradeStatus {
        attempt: status.attempt,
        refused_target: status.refused_target.take().filter(|_| !is_retry),
        // A stuck node was never restored: what it was before is still true.
        snapshot: status.snapshot.take(),
        not_ready_before: std::mem::take(&mut status.not_ready_before),
        retried: retry,
        aborted: status.aborted.take(),
        conditions: std::mem::take(&mut status.conditions),
        // Numbers are never used again, and what the last attempt has to report is still reported.
        outbox: std::mem::take(&mut status.outbox),
        ..NodeUpgradeStatus::default()
    };
}

fn abort(object: &NodeUpgrade) -> Option<String> {
    object.annotation(names::ABORT_ANNOTATION).map(str::to_owned)
}

/// Whatever comes of it, it is the answer to what is asked for now.
fn observe(status: &mut NodeUpgradeStatus, object: &NodeUpgrade) {
    status.observed_generation = object.metadata.generation.unwrap_or_default();
    status.retried = object.annotation(names::RETRY_ANNOTATION).map(str::to_owned);
}

fn take_away(status: &mut NodeUpgradeStatus, object: &NodeUpgrade, seen: &Seen) {
    let generation = object.metadata.generation.unwrap_or_default();
    status.attempt += 1;
    let uid = object.metadata.uid.as_deref().unwrap_or_default();
    status.run = Some(format!("{uid}-{generation}-{}", status.attempt));
    status.failure = None;
    status.secret_uid.clone_from(&seen.secret_uid);
    if let SecretSeen::For(driver) = seen.secret {
        status.driver = Some(driver);
    }
    if let Some(node) = &seen.node {
        if status.snapshot.is_none() {
            status.not_ready_before.clone_from(&seen.not_ready_pods);
        }
        let mut snapshot = status.snapshot.take().unwrap_or_else(|| node.snapshot.clone());
        // A wish, not a property of the node: it must not come back.
        snapshot.labels.remove(names::SCHEDULE_LABEL);
        status.snapshot = Some(snapshot);
        status.boot_id_before = Some(node.boot_id.clone());
    }
}

fn note_progress(status: &mut NodeUpgradeStatus, seen: &Seen) {
    let Some(report) = seen.report.as_ref().filter(|report| Some(&report.run) == status.run.as_ref()) else { return };
    let now: Timestamp = seen.now;
    if status.progress.is_none_or(|progress| progress.count != report.progress) {
        status.progress = Some(Progress { count: report.progress, at: now });
    }
    for (field, key) in [(&mut status.from, "from"), (&mut status.to, "to")] {
        if let Some(value) = report.seen.get(key) {
            *field = Some(value.clone());
        }
    }
}
