//! One step from its first check to its end.

use backon::{BackoffBuilder, ExponentialBuilder};
use explain::Explain;
use host::Host;
use tokio::{
    task::yield_now,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{Book, Runner, emitter::Emitter, listen::listening};
use crate::{
    Ledger, LedgerError, Planned, Playbook, State, StepError, UndoEntry, Verdict, codes, deadline::Deadline,
    playbook::Entry, step::Observation,
};

/// A step and everything it needs to be run.
pub(super) struct OneStep<'a> {
    pub(super) runner: &'a Runner,
    pub(super) playbook: &'a Playbook,
    pub(super) book: &'a Book<'a>,
    pub(super) emitter: &'a Emitter<'a>,
    pub(super) halt: &'a CancellationToken,
    pub(super) entry: &'a Entry,
}

/// How a step ended in this run.
pub(super) enum Ended {
    Verified { changed: bool },
    Failed(StepError),
    Cancelled,
}

/// What stops an attempt.
enum Stop {
    Error(StepError),
    Ledger(LedgerError),
    Cancelled,
}

impl From<StepError> for Stop {
    fn from(error: StepError) -> Self {
        Self::Error(error)
    }
}

impl From<LedgerError> for Stop {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl OneStep<'_> {
    /// Attempts, until the promise is kept or trying again makes no sense.
    pub(super) async fn run(&self) -> Result<Ended, LedgerError> {
        let mut pauses = self.pauses();
        let mut changed = false;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let error = match self.attempt(attempt, &mut changed).await {
                Ok(()) => return Ok(Ended::Verified { changed }),
                Err(Stop::Ledger(error)) => return Err(error),
                Err(Stop::Cancelled) => {
                    self.emit(State::Cancelled, attempt, "stopped; run again to go on".to_owned());
                    return Ok(Ended::Cancelled);
                }
                Err(Stop::Error(error)) => error,
            };
            let pause = if error.is_retryable() { pauses.next() } else { None };
            let state = if pause.is_some() { State::Retrying } else { State::Failed };
            // Emitted before it is recorded: on a full disk the ledger fails too, and this is the cause.
            self.emitter.failure(self.entry.about.id.as_str(), state, attempt, &error);
            self.book
                .write(|ledger| ledger.fail(&self.key(), format!("{}: {}", error.code(), explain::chain(&error))))?;
            let Some(pause) = pause else { return Ok(Ended::Failed(error)) };
            // A cancellation during the pause is seen by the next attempt before it changes anything.
            self.halt.run_until_cancelled(sleep(pause)).await;
        }
    }

    async fn attempt(&self, attempt: u32, changed: &mut bool) -> Result<(), Stop> {
        self.stop_if_cancelled().await?;
        self.emit(State::Started, attempt, self.entry.about.title.to_string());
        let mut observation = self.first_check(attempt).await?;
        if observation.changes.is_empty() && !observation.is_met() {
            // What has to be changed may depend on what is waited for.
            observation =
                self.wait(attempt, |observation| observation.is_met() || !observation.changes.is_empty()).await?;
        }
        if !observation.changes.is_empty() {
            self.record_started(&observation.changes)?;
            *changed = true;
            for change in &observation.changes {
                self.stop_if_cancelled().await?;
                self.emit(State::Applying, attempt, change.to_string());
                self.apply(change, attempt).await?;
            }
        }
        if !observation.is_met() {
            self.wait(attempt, Observation::is_met).await?;
        }
        self.record_verified(*changed)?;
        let state = if *changed { State::Verified } else { State::Unchanged };
        self.emit(state, attempt, self.entry.about.title.to_string());
        Ok(())
    }

    /// Looks at the machine, and emits what the step has to say about it.
    async fn first_check(&self, attempt: u32) -> Result<Observation, StepError> {
        self.listening(State::Started, attempt, |host| async move { self.entry.step.check(&host).await }).await
    }

    /// Makes one change, and emits what it says of itself meanwhile.
    async fn apply(&self, change: &Planned, attempt: u32) -> Result<(), StepError> {
        self.listening(State::Applying, attempt, |host| async move { self.entry.step.apply(change, &host).await }).await
    }

    /// Works with a host whose messages become events.
    async fn listening<T, F: Future<Output = Result<T, StepError>>>(
        &self,
        state: State,
        attempt: u32,
        work: impl FnOnce(Host) -> F,
    ) -> Result<T, StepError> {
        listening(&self.runner.host, work, |what| self.emit(state, attempt, what)).await
    }

    /// Looks until it is enough, as long as there is progress.
    async fn wait(&self, attempt: u32, is_enough: impl Fn(&Observation) -> bool) -> Result<Observation, Stop> {
        let mut deadline = Deadline::new(self.entry.step.deadline(), Instant::now());
        let mut reported = String::new();
        loop {
            let observation = self.entry.step.check(&self.runner.host).await?;
            if is_enough(&observation) {
                return Ok(observation);
            }
            let (what, progress) = waiting_for(observation);
            if !deadline.goes_on(&progress, Instant::now()) {
                let limit = deadline.limit().as_secs();
                let message = format!("waited for {what}; no progress for {limit} s");
                return Err(StepError::new(codes::NOT_IN_TIME, message).retryable().into());
            }
            if reported != what {
                self.emit(State::Waiting, attempt, what.clone());
                reported = what;
            }
            self.halt.run_until_cancelled(sleep(self.runner.tuning.poll)).await;
            self.stop_if_cancelled().await?;
        }
    }

    /// From here on the machine may be changed: the ledger knows how to take it back.
    fn record_started(&self, changes: &[Planned]) -> Result<(), Stop> {
        let disk = &*self.runner.host.disk;
        let originals = self.runner.originals().join(self.playbook.name()).join(self.entry.about.id.as_str());
        let mut undo = Vec::new();
        for change in changes {
            undo.extend(UndoEntry::before(change, disk, &originals).map_err(StepError::from)?);
        }
        let key = self.key();
        for entry in &undo {
            let known = self.book.read(|ledger| {
                ledger
                    .steps
                    .get(&key)
                    .is_some_and(|record| record.undo.iter().any(|old| old.target() == entry.target()))
            });
            if !known {
                entry.keep_original(disk).map_err(StepError::from)?;
            }
        }
        let now = self.runner.host.clock.now();
        Ok(self.book.write(|ledger| ledger.start(&key, now, undo))?)
    }

    /// A step that is filed as verified and was not touched needs no new entry.
    fn record_verified(&self, touched: bool) -> Result<(), LedgerError> {
        let key = self.key();
        if !touched && self.book.read(|ledger| ledger.is_verified_without_error(&key)) {
            return Ok(());
        }
        let now = self.runner.host.clock.now();
        self.book.write(|ledger| ledger.verify(&key, now))
    }

    /// A step that only writes files waits for nothing: unless the run gives them a turn, those who listen for signals
    /// hear of them after the last change.
    async fn stop_if_cancelled(&self) -> Result<(), Stop> {
        yield_now().await;
        if self.halt.is_cancelled() { Err(Stop::Cancelled) } else { Ok(()) }
    }

    fn emit(&self, state: State, attempt: u32, message: String) {
        self.emitter.step(&self.entry.about, state, attempt, message);
    }

    fn key(&self) -> String {
        Ledger::key(self.playbook.name(), self.entry.about.id.as_str())
    }

    fn pauses(&self) -> impl Iterator<Item = std::time::Duration> + use<> {
        let tuning = self.runner.tuning;
        ExponentialBuilder::new()
            .with_min_delay(tuning.first_pause)
            .with_max_delay(tuning.longest_pause)
            .with_max_times(tuning.attempts.saturating_sub(1))
            .with_jitter()
            .build()
    }
}

/// What is still missing, and what to watch for progress.
fn waiting_for(observation: Observation) -> (String, String) {
    match (observation.changes.first(), observation.verdict) {
        (Some(change), _) => {
            (format!("the machine to show the change: {change}"), observation.changes.len().to_string())
        }
        (None, Verdict::Waiting { what, progress }) => (what, progress),
        (None, Verdict::Met) => (String::new(), String::new()),
    }
}
