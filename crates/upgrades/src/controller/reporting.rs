//! Sends progress beside the work: one event of a node at a time, and nothing waits for it.

use jiff::Timestamp;
use tokio::task::JoinHandle;

use super::{memory::NodeMemory, observe::Observed};
use crate::{
    NodeUpgrade,
    progress::{Answer, Outbox, Outcome},
};

/// An event that is under way.
pub(super) type Sending = JoinHandle<Answer>;

/// The outbox after what was answered meanwhile; what is due now is sent.
pub(super) async fn deliver(object: &NodeUpgrade, observed: &Observed, memory: &mut NodeMemory) -> Outbox {
    let now = Timestamp::now();
    let mut outbox = object.status.outbox.clone();
    if memory.sending.as_ref().is_some_and(JoinHandle::is_finished)
        && let Some(sending) = memory.sending.take()
        && let Ok(answer) = sending.await
    {
        outbox = outbox.after(&answer, now);
        if let Some(error) = &outbox.last_error {
            tracing::warn!(node = object.node(), code = error.code, hint = error.hint, "{}", error.message);
        }
    }
    let Ok(destination) = &observed.secret.destination else { return outbox };
    let Some(destination) = destination else {
        return if outbox.is_delivered() { outbox } else { outbox.unwanted() };
    };
    let due = outbox.due(now).filter(|_| memory.sending.is_none());
    if let Some(event) = due {
        let (seq, event) = (event.seq, destination.event(object, event));
        match destination.client() {
            Ok(client) => {
                let destination = destination.clone();
                memory.sending = Some(tokio::spawn(async move { destination.send(&client, &event).await }));
            }
            Err(error) => {
                let outcome = Outcome::Unanswered(explain::chain(&error));
                outbox = outbox.after(&Answer { seq, outcome }, now);
            }
        }
    }
    outbox
}
