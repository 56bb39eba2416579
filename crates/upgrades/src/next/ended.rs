//! The end of a run: the node is given back, the Secret goes once all is reported, and a new wish begins another.

use explain::Message;

use super::{Effect, Next, SecretSeen, Situation, SlotSeen, is_over};
use crate::{Command, NodeState, Phase, codes, names};

/// A node that is labelled again as it was waits for so many seconds, times its attempts.
const BACK_OFF: u64 = 60;
/// And no longer.
const LONGEST_BACK_OFF: u64 = 900;
/// For so many seconds a deleted object waits until all is reported.
const LAST_WORDS: u64 = 30;

impl Situation<'_> {
    pub(super) fn restoring(&self) -> Next {
        let ending = self.object.status.ending.unwrap_or(Phase::Refused);
        // The order first: an armed node must not take the removal of the label for the commit.
        let restore = [Effect::RemoveOrder, Effect::RemoveLabel, Effect::Restore];
        let restore = restore.into_iter().filter(|_| self.seen.node.is_some());
        Next::enter(ending).after(restore.chain([Effect::ReleaseSlot]).collect::<Vec<_>>())
    }

    pub(super) fn ended(&self) -> Next {
        let (object, status) = (self.object, &self.object.status);
        let is_stuck = status.phase == Phase::Stuck;
        if self.is_deleted() {
            if let Some(report) = self.at_work().filter(|_| is_stuck) {
                return Next::wait(Message::text(self.works_on(report)));
            }
            if let Some(unreported) = self.unreported() {
                return unreported;
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
                Next::wait_for(codes::NO_SECRET, message).after(slot)
            }
            _ if is_labelled => match self.back_off() {
                Some(waits) => waits.after(slot),
                None => Next::enter(Phase::Pending),
            },
            _ => {
                let is_used_up = self.is_secret_of_run() && status.outbox.is_delivered();
                let secret = is_used_up.then_some(Effect::DeleteSecret);
                self.kept_secret().after(slot.into_iter().chain(secret).collect::<Vec<_>>())
            }
        }
    }

    /// Something that labels a node again and again changes nothing about what was wrong with it. A person who has stopped it
    /// may want it after all.
    fn back_off(&self) -> Option<Next> {
        let status = &self.object.status;
        let has_failed = matches!(status.phase, Phase::Refused | Phase::RolledBack);
        let is_stopped = status.failure.as_ref().is_some_and(|failure| failure.code == codes::ABORTED.id);
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

    /// A user may try again with the tokens of a run that has failed, so they stay; and must hear of it, for they still hold.
    fn kept_secret(&self) -> Next {
        let has_failed = matches!(self.object.status.phase, Phase::Refused | Phase::RolledBack);
        let is_usable = self.seen.secret_uid.is_some() && matches!(self.seen.secret, SecretSeen::For(_));
        if !has_failed || !is_usable {
            return Next::default();
        }
        let name = self.object.secret();
        Next::wait(Message::text(format!(
            "another attempt; until then Secret {name} keeps its tokens: delete it if there is none"
        )))
    }

    /// The Secret of a run that is done is of use only to report it. One that has come in its place is a user's, for another run.
    fn is_secret_of_run(&self) -> bool {
        let (status, uid) = (&self.object.status, &self.seen.secret_uid);
        status.phase == Phase::Done && uid.is_some() && *uid == status.secret_uid
    }

    /// An object that goes takes what is still to be reported with it; an API that does not answer does not keep it.
    pub(super) fn unreported(&self) -> Option<Next> {
        let since = self.object.metadata.deletion_timestamp.as_ref()?.0;
        let is_reported = self.object.status.outbox.is_delivered() || is_over(since, LAST_WORDS, self.seen.now);
        (!is_reported).then(|| Next::wait(Message::text("the progress API to hear how it ended")))
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
