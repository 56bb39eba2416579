//! Makes events of what the runner says and hands them to everybody who listens.

use std::sync::{Mutex, MutexGuard, PoisonError};

use explain::{Explain, Message};

use crate::{About, EVENT_SCHEMA_VERSION, Event, Runner, State};

pub(super) struct Emitter<'a> {
    runner: &'a Runner,
    playbook: &'static str,
    run: String,
    /// Held while the sinks are called, so that events reach them in the order of their numbers.
    count: Mutex<Count>,
}

struct Count {
    sequence: u64,
    done: usize,
    total: usize,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(runner: &'a Runner, playbook: &'static str, total: usize) -> Self {
        let started = runner.host.clock.now().strftime("%Y%m%dT%H%M%SZ");
        let run = format!("{started}-{}", std::process::id());
        let count = Mutex::new(Count { sequence: 0, done: 0, total });
        Self { runner, playbook, run, count }
    }

    /// Says that the run is about this many steps, if that was not known before.
    pub(super) fn expect(&self, total: usize) {
        self.count().total = total;
    }

    pub(super) fn run_id(&self) -> &str {
        &self.run
    }

    /// Emits an event of the run itself.
    pub(super) fn run(&self, state: State, message: String) {
        self.emit(None, state, 0, Message::text(message));
    }

    /// Emits an event of a step.
    pub(super) fn step(&self, about: &About, state: State, attempt: u32, message: String) {
        self.emit(Some(about.id.as_str()), state, attempt, Message::text(message));
    }

    /// Emits an event of a step that may not be in the playbook any more.
    pub(super) fn undo(&self, step: &str, state: State, message: String) {
        self.emit(Some(step), state, 1, Message::text(message));
    }

    /// Emits that a step went wrong.
    pub(super) fn failure(&self, step: &str, state: State, attempt: u32, error: &dyn Explain) {
        self.emit(Some(step), state, attempt, Message::Error(error.diagnostic()));
    }

    /// Emits that the run as a whole cannot go on.
    pub(super) fn broken(&self, error: &dyn Explain) {
        self.emit(None, State::RunFinished, 0, Message::Error(error.diagnostic()));
    }

    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn emit(&self, step: Option<&str>, state: State, attempt: u32, text: Message) {
        let mut count = self.count();
        count.sequence += 1;
        if matches!(state, State::Verified | State::Unchanged | State::Undone) {
            count.done += 1;
        }
        let event = Event {
            v: EVENT_SCHEMA_VERSION,
            sequence: count.sequence,
            time: self.runner.host.clock.now(),
            run: self.run.clone(),
            node: self.runner.node.clone(),
            playbook: self.playbook.to_owned(),
            step: step.map(str::to_owned),
            state,
            attempt,
            done: count.done,
            total: count.total,
            text,
        };
        for sink in &self.runner.sinks {
            sink.event(&event);
        }
    }
}
