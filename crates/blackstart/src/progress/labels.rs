//! How an event is shown, the same on a terminal and in a log.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use engine::{Event, State};
use jiff::Timestamp;

use crate::Style;

/// Remembers when each step was first heard of, to say how long it took.
#[derive(Default)]
pub(super) struct Clock {
    started: Mutex<HashMap<String, Instant>>,
}

impl Clock {
    /// Time since the first event of this step (or of the run).
    pub(super) fn elapsed(&self, event: &Event) -> Duration {
        let key = event.step.clone().unwrap_or_default();
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.entry(key).or_insert_with(Instant::now).elapsed()
    }
}

/// How an event is marked: a sign, a word, a style.
pub(super) fn mark(state: State) -> (&'static str, &'static str, Style) {
    match state {
        State::RunStarted => ("·", "run", Style::Strong),
        State::RunFinished => ("·", "end", Style::Strong),
        State::LedgerRecovered => ("!", "recovered", Style::Warning),
        State::Started => ("·", "check", Style::Dim),
        State::Applying => ("→", "change", Style::Dim),
        State::Waiting => ("…", "wait", Style::Dim),
        State::Retrying => ("!", "retry", Style::Warning),
        State::Verified => ("✓", "done", Style::Good),
        State::Unchanged => ("=", "same", Style::Dim),
        State::Failed => ("✗", "FAILED", Style::Bad),
        State::Blocked => ("-", "not tried", Style::Warning),
        State::Cancelled => ("!", "stopped", Style::Warning),
        State::Undoing => ("←", "undo", Style::Dim),
        State::Undone => ("✓", "undone", Style::Good),
        State::UndoFailed => ("✗", "NOT UNDONE", Style::Bad),
    }
}

/// `0.3 s`, `12 s`, `2 min 5 s`: as precise as a person cares.
pub(crate) fn duration(elapsed: Duration) -> String {
    match elapsed.as_secs() {
        0..10 => format!("{:.1} s", elapsed.as_secs_f64()),
        seconds @ 10..60 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// From one time to another, however long ago; never negative, because clocks are set.
pub(crate) fn between(from: Timestamp, until: Timestamp) -> String {
    let elapsed = Duration::try_from(until.duration_since(from)).unwrap_or_default();
    match elapsed.as_secs() {
        0..3600 => duration(elapsed),
        seconds @ 3600..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// True for events after which a step is over in this run.
pub(super) fn is_end(state: State) -> bool {
    matches!(
        state,
        State::Verified
            | State::Unchanged
            | State::Failed
            | State::Blocked
            | State::Cancelled
            | State::Undone
            | State::UndoFailed
    )
}

#[cfg(test)]
pub(super) mod tests {
    use ::explain::{Diagnostic, Message};

    use super::*;

    /// Events of a run in which a step waits, fails once, and is stopped.
    pub(in crate::progress) fn small_run() -> Vec<Event> {
        let event = |state, step: Option<&str>, attempt, message: &str| Event {
            v: engine::EVENT_SCHEMA_VERSION,
            sequence: 1,
            time: "2026-11-15T12:00:00Z".parse().unwrap(),
            run: "RUN".into(),
            node: "master-01".into(),
            playbook: "cluster".into(),
            step: step.map(Into::into),
            state,
            attempt,
            done: 1,
            total: 3,
            text: if state == State::Retrying {
                Message::Error(Diagnostic::new(engine::codes::NOT_IN_TIME, message))
            } else {
                Message::text(message)
            },
        };
        vec![
            event(State::RunStarted, None, 0, "3 steps"),
            event(State::Waiting, Some("etcd"), 1, "etcd to answer on :2379"),
            event(State::Retrying, Some("etcd"), 1, "waited for etcd to answer on :2379; no progress for 60 s"),
            event(State::Applying, Some("etcd"), 2, "write /etc/etcd/etcd.env (0600, 412 bytes)"),
            event(State::Cancelled, Some("etcd"), 2, "stopped; run again to go on"),
            event(State::RunFinished, None, 0, "1 verified, 0 of them changed, stopped before the end"),
        ]
    }

    #[test]
    fn durations_as_a_person_says_them() {
        for (millis, text) in
            [(40, "0.0 s"), (340, "0.3 s"), (9_940, "9.9 s"), (10_000, "10 s"), (125_000, "2 min 5 s")]
        {
            assert_eq!(duration(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn times_between_as_a_person_says_them() {
        let now = "2026-11-15T12:00:00Z".parse::<Timestamp>().unwrap();
        for (seconds, text) in
            [(-5, "0.0 s"), (42, "42 s"), (125, "2 min 5 s"), (7_260, "2 h 1 min"), (260_000, "3 days")]
        {
            assert_eq!(between(now - jiff::SignedDuration::from_secs(seconds), now), text);
        }
    }
}
