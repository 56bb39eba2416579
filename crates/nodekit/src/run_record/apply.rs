//! From events to a record. Touches nothing but the record.

use engine::{Event, State};
use jiff::Timestamp;

use super::{Attempt, Outcome, Process, Purpose, RecordedError, RunRecord, SCHEMA_VERSION, StepRun, StepState, Wait};

/// A service in a crash loop says something new at every check; the picture does not get better by keeping it all.
const MOST_WAITS: usize = 64;

/// What a record says of the program that runs, whatever the run does.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) purpose: Purpose,
    pub(super) boot_id: String,
    pub(super) process: Process,
}

impl RunRecord {
    /// The record of a run of which nothing is known but that it began.
    pub(super) fn new(origin: &Origin, run: &str, node: &str, playbook: &str, started: Timestamp) -> Self {
        let Origin { purpose, boot_id, process } = origin.clone();
        Self {
            v: SCHEMA_VERSION,
            run: run.to_owned(),
            purpose,
            node: node.to_owned(),
            playbook: playbook.to_owned(),
            boot_id,
            process,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            updated: started,
            ended: None,
            outcome: Outcome::Working,
            done: 0,
            total: 0,
            summary: String::new(),
            steps: Vec::new(),
            last_error: None,
        }
    }

    /// The record of a run that begins with this event.
    pub(super) fn begun(origin: &Origin, event: &Event) -> Self {
        let mut record = Self::new(origin, &event.run, &event.node, &event.playbook, event.time);
        record.apply(event);
        record
    }

    /// Takes in one event of the run.
    pub fn apply(&mut self, event: &Event) {
        self.updated = event.time;
        (self.done, self.total) = (event.done, event.total);
        let failure = failure(event);
        if failure.is_some() {
            self.last_error.clone_from(&failure);
        }
        match &event.step {
            Some(id) => self.step(id).apply(event, failure),
            None => event.message().clone_into(&mut self.summary),
        }
        if event.state == State::RunFinished {
            self.outcome = self.ending(event);
            self.ended = Some(event.time);
            self.close_steps(event.time);
        }
    }

    fn step(&mut self, id: &str) -> &mut StepRun {
        let index = self.steps.iter().position(|step| step.id == id).unwrap_or_else(|| {
            self.steps.push(StepRun::new(id));
            self.steps.len() - 1
        });
        &mut self.steps[index]
    }

    fn ending(&self, event: &Event) -> Outcome {
        let any = |wanted: fn(StepState) -> bool| self.steps.iter().any(|step| wanted(step.state));
        if event.error().is_some() {
            Outcome::Failed
        } else if any(|state| state == StepState::Cancelled) {
            Outcome::Cancelled
        } else if any(StepState::is_bad) {
            Outcome::Failed
        } else if event.done == event.total {
            Outcome::Done
        } else {
            Outcome::Cancelled // stopped at a moment at which no step was being worked on
        }
    }

    /// Of a step that was cut short with the run nothing more is reported.
    fn close_steps(&mut self, now: Timestamp) {
        for step in self.steps.iter_mut().filter(|step| step.ended.is_none()) {
            let state = if step.state.is_end() { step.state } else { StepState::Cancelled };
            step.end(state, now, None);
        }
    }
}

impl StepRun {
    fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: id.to_owned(),
            started: None,
            ended: None,
            state: StepState::Working,
            attempts: Vec::new(),
            waits: Vec::new(),
            doing: None,
        }
    }

    fn apply(&mut self, event: &Event, failure: Option<RecordedError>) {
        let now = event.time;
        match event.state {
            // The first word of an attempt is the step's title, the others are what it has to say.
            State::Started if self.is_new(event.attempt) => {
                event.message().clone_into(&mut self.title);
                self.work(event.attempt, now, None);
            }
            State::Started | State::Applying => self.work(event.attempt, now, Some(event.message().to_owned())),
            State::Undoing => {
                let state = self.state;
                self.work(event.attempt, now, Some(event.message().to_owned()));
                if state == StepState::NotUndone {
                    self.state = state; // what could not be undone stays so, whatever else can be
                }
            }
            State::Waiting => self.wait(event.message(), now),
            State::Retrying => {
                self.pause(now, failure);
                self.state = StepState::Retrying;
            }
            State::UndoFailed => {
                self.work(event.attempt, now, None);
                self.note(failure);
                self.state = StepState::NotUndone;
            }
            State::Verified => self.end(StepState::Done, now, None),
            State::Unchanged => self.end(StepState::Unchanged, now, None),
            State::Failed => self.end(StepState::Failed, now, failure),
            State::Blocked => self.end(StepState::NotTried, now, None),
            State::Cancelled => self.end(StepState::Cancelled, now, None),
            State::Undone => self.end(StepState::Undone, now, None),
            State::RunStarted | State::LedgerRecovered | State::RunFinished => {} // never of a step
        }
    }

    fn is_new(&self, attempt: u32) -> bool {
        self.attempts.last().is_none_or(|last| last.number != attempt)
    }

    fn work(&mut self, attempt: u32, now: Timestamp, doing: Option<String>) {
        self.started.get_or_insert(now);
        if self.is_new(attempt) {
            self.attempts.push(Attempt { number: attempt, started: now, ended: None, error: None });
        }
        self.stop_waiting(now);
        self.state = StepState::Working;
        self.doing = doing;
    }

    fn wait(&mut self, what: &str, now: Timestamp) {
        self.stop_waiting(now);
        self.state = StepState::Waiting;
        self.doing = None;
        let is_full = self.waits.len() >= MOST_WAITS;
        match self.waits.last_mut().filter(|_| is_full) {
            Some(last) => {
                what.clone_into(&mut last.what);
                last.until = None;
            }
            None => self.waits.push(Wait { what: what.to_owned(), since: now, until: None }),
        }
    }

    fn stop_waiting(&mut self, now: Timestamp) {
        if let Some(wait) = self.waits.last_mut() {
            wait.until.get_or_insert(now);
        }
    }

    /// The attempt is over.
    fn pause(&mut self, now: Timestamp, failure: Option<RecordedError>) {
        self.stop_waiting(now);
        self.doing = None;
        self.note(failure);
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.ended.get_or_insert(now);
        }
    }

    fn note(&mut self, failure: Option<RecordedError>) {
        if let (Some(attempt), Some(failure)) = (self.attempts.last_mut(), failure) {
            attempt.error = Some(failure);
        }
    }

    fn end(&mut self, state: StepState, now: Timestamp, failure: Option<RecordedError>) {
        self.pause(now, failure);
        self.ended = Some(now);
        self.state = state;
    }
}

fn failure(event: &Event) -> Option<RecordedError> {
    let diagnostic = event.error()?.clone().recorded();
    Some(RecordedError { step: event.step.clone(), diagnostic, time: event.time })
}
