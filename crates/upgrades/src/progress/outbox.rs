//! What an outside API is still to hear about a node, and how the delivery goes. A part of the object's status. Pure.

use explain::Diagnostic;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{NodeState, Phase};

/// Events that are kept. A run has about twenty.
const MOST: usize = 50;
/// Characters of a message: fifty of them are a part of one object.
const LONGEST: usize = 1000;
/// How often a node that waits for the API has something to report.
const ASK_AGAIN: SignedDuration = SignedDuration::from_mins(1);

/// What is still to be reported, and how reporting goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Outbox {
    /// The number of the last event. Never used again for another of this object.
    pub seq: u64,
    /// What is still to be reported, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// How many were never delivered: too many, too old, refused.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped: usize,
    /// What the node reported last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noted: Option<Noted>,
    /// When there was something to report last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noted_at: Option<Timestamp>,
    /// Failures since the API took or refused an event.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures: usize,
    /// Nothing is sent before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// When the first of these failures was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<Timestamp>,
    /// The API wants to hear nothing more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// What the last delivery failed of; nothing after one that did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<Diagnostic<String>>,
}

/// Something that is reported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its number.
    pub seq: u64,
    /// When it was seen, by the controller's clock.
    pub at: Timestamp,
    /// In which run; none before there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// How far the cluster is with the node.
    pub phase: Phase,
    /// What went wrong, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// One sentence.
    pub message: String,
    /// What the node was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it is to become.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// How many times the work was begun.
    pub attempt: u32,
    /// How far the node says that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_state: Option<NodeState>,
}

/// What a node reported: the same state in another run is news.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// In this run.
    pub run: String,
    /// This.
    pub state: NodeState,
}

impl Outbox {
    /// Whether there was never anything to report.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether nothing is left to be sent, so that the token is of no more use.
    pub fn is_delivered(&self) -> bool {
        self.events.is_empty()
    }

    /// What is to be sent now.
    pub fn due(&self, now: Timestamp) -> Option<&Event> {
        let is_time = self.not_before.is_none_or(|not_before| not_before <= now);
        self.events.first().filter(|_| is_time && !self.stopped)
    }

    /// Without what no API is to hear: the Secret names no API.
    #[must_use]
    pub fn unwanted(&self) -> Self {
        Self {
            events: Vec::new(),
            last_error: None,
            failures: 0,
            not_before: None,
            first_failure: None,
            ..self.clone()
        }
    }

    /// One more to be reported; it gets its number here.
    pub(crate) fn push(&mut self, event: Event) {
        self.seq += 1;
        self.noted_at = Some(event.at);
        if self.stopped {
            return;
        }
        let message = event.message.chars().take(LONGEST).collect();
        self.events.push(Event { seq: self.seq, message, ..event });
        if let Some(surplus) = self.events.len().checked_sub(MOST) {
            self.events.drain(..surplus);
            self.dropped += surplus;
        }
    }

    /// Whether a node that waits for the API would wait for ever: what failed was dropped, and nothing else is there to show
    /// that the API, or the Secret, was repaired.
    pub(crate) fn has_nothing_to_ask(&self, now: Timestamp) -> bool {
        self.events.is_empty() && self.noted_at.is_none_or(|noted| now.duration_since(noted) >= ASK_AGAIN)
    }

    /// Drops events, and counts them.
    pub(super) fn drop_where(&mut self, is_dropped: impl Fn(&Event) -> bool) -> usize {
        let before = self.events.len();
        self.events.retain(|event| !is_dropped(event));
        let dropped = before - self.events.len();
        self.dropped += dropped;
        dropped
    }
}

/// Why progress cannot be reported, for [`Seen::no_progress`](crate::next::Seen::no_progress): where it is required and the last delivery failed.
pub fn blocks(outbox: &Outbox, required: bool) -> Option<String> {
    let error = outbox.last_error.as_ref().filter(|_| required)?;
    Some(error.message.clone())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(message: &str) -> Event {
        Event { at: Timestamp::from_second(1).unwrap(), message: message.to_owned(), ..Event::default() }
    }

    #[test]
    fn at_most_fifty_are_kept_and_the_oldest_go() {
        let mut outbox = Outbox::default();
        for _ in 0..53 {
            outbox.push(event(&"ü".repeat(2000)));
        }
        assert_eq!((outbox.seq, outbox.dropped, outbox.events.len()), (53, 3, 50));
        let seqs: Vec<u64> = outbox.events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (4..=53).collect::<Vec<_>>());
        assert_eq!(outbox.events[0].message.chars().count(), 1000);
    }

    #[test]
    fn it_is_read_back_and_says_only_what_there_is() {
        let mut outbox = Outbox::default();
        assert!(outbox.is_empty());
        assert_eq!(serde_json::to_string(&outbox).unwrap(), r#"{"seq":0}"#);
        outbox.push(Event { node_state: Some(NodeState::Stage2), ..event("two") });
        outbox.noted = Some(Noted { run: "r".into(), state: NodeState::Stage2 });
        outbox.not_before = Some(Timestamp::from_second(9).unwrap());
        let text = serde_json::to_string(&outbox).unwrap();
        insta::assert_snapshot!(text, @r#"{"seq":1,"events":[{"seq":1,"at":"1970-01-01T00:00:01Z","phase":"Pending","message":"two","attempt":0,"nodeState":"stage2"}],"noted":{"run":"r","state":"stage2"},"notedAt":"1970-01-01T00:00:01Z","notBefore":"1970-01-01T00:00:09Z"}"#);
        assert_eq!(serde_json::from_str::<Outbox>(&text).unwrap(), outbox);
    }

    #[test]
    fn only_the_first_is_due_and_only_in_its_time() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut outbox = Outbox::default();
        assert_eq!(outbox.due(at(5)), None);
        outbox.push(event("one"));
        outbox.push(event("two"));
        let due = |outbox: &Outbox, second| outbox.due(at(second)).map(|event| event.seq);
        assert_eq!(due(&outbox, 5), Some(1));
        outbox.not_before = Some(at(9));
        assert_eq!((due(&outbox, 8), due(&outbox, 9)), (None, Some(1)));
        assert_eq!((due(&outbox.unwanted(), 9), outbox.unwanted().seq), (None, 2));
        outbox.stopped = true;
        assert_eq!(due(&outbox, 9), None);
    }

    #[test]
    fn a_node_waits_only_where_it_must_and_something_failed() {
        let failed = Outbox {
            last_error: Some(Diagnostic::new(crate::codes::PROGRESS_DELAYED, "503").recorded()),
            ..Outbox::default()
        };
        for (outbox, required, expected) in [
            (&failed, true, Some("503".to_owned())),
            (&failed, false, None),
            (&Outbox::default(), true, None),
            (&failed.unwanted(), true, None),
        ] {
            assert_eq!(blocks(outbox, required), expected);
        }
    }
}
