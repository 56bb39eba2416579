//! The runner: the only one who locks, records, emits events, retries, waits and stops.

mod emitter;
mod listen;
mod one;
mod plan;
mod undo;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use explain::{Code, Explain, counted};
use futures::{StreamExt, stream::FuturesUnordered};
use host::Host;
pub use plan::StepPlan;
use tokio_util::sync::CancellationToken;
pub use undo::{StepUndo, UndoReport};

use crate::{
    Ledger, LedgerError, LedgerStore, LockError, Playbook, Sink, State, StepError, lock,
    run::emitter::Emitter,
    schedule::{self, StepStatus},
};

/// Runs playbooks on one machine.
pub struct Runner {
    /// The machine.
    pub host: Host,
    /// Where lock, ledger and originals are kept.
    pub state_dir: PathBuf,
    /// The node's name, for events.
    pub node: String,
    /// Where events go.
    pub sinks: Vec<Arc<dyn Sink>>,
    /// Stops the run between two changes.
    pub cancel: CancellationToken,
    /// Waiting times.
    pub tuning: Tuning,
}

/// Waiting times of the runner.
#[derive(Debug, Clone, Copy)]
pub struct Tuning {
    /// How often a promised state is looked for.
    pub poll: Duration,
    /// Pause before the second attempt; it doubles from there, with some jitter.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// Attempts at one step in one run.
    pub attempts: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(100),
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            attempts: 5,
        }
    }
}

/// How a run ended.
#[derive(Debug, Default)]
pub struct Report {
    /// Steps whose promise is kept, in the order in which that was seen.
    pub verified: Vec<String>,
    /// Those among them that changed something.
    pub changed: Vec<String>,
    /// Steps that failed.
    pub failed: Vec<StepFailure>,
    /// Steps that were not tried, because one before them failed.
    pub blocked: Vec<String>,
    /// True if the run was stopped from outside.
    pub cancelled: bool,
}

impl Report {
    /// True if every step's promise is kept.
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.blocked.is_empty() && !self.cancelled
    }
}

/// A step that failed.
#[derive(Debug)]
pub struct StepFailure {
    /// Its id.
    pub step: String,
    /// Why.
    pub error: StepError,
}

/// Why a run could not go on as a whole.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Another run holds the machine.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The ledger cannot be read or written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl Explain for RunError {
    fn code(&self) -> Code {
        match self {
            Self::Lock(error) => error.code(),
            Self::Ledger(error) => error.code(),
        }
    }
}

impl Runner {
    /// A runner without a sink and with the usual waiting times.
    pub fn new(host: Host, state_dir: impl Into<PathBuf>, node: impl Into<String>) -> Self {
        Self {
            host,
            state_dir: state_dir.into(),
            node: node.into(),
            sinks: Vec::new(),
            cancel: CancellationToken::new(),
            tuning: Tuning::default(),
        }
    }

    /// Carries the machine to where every step's promise is kept, as far as that is possible.
    ///
    /// A failed step stops only what comes after it. An error of the ledger stops everything, because nothing is done
    /// that cannot be recorded; steps in flight complete the change they are at before this returns and lets the lock
    /// go.
    pub async fn run(&self, playbook: &Playbook) -> Result<Report, RunError> {
        let _lock = lock::acquire(&self.host, &self.state_dir, playbook.name())?;
        let emitter = Emitter::new(self, playbook.name(), playbook.steps().len());
        let book = Book::open(self, &emitter)?;
        emitter.run(State::RunStarted, counted(playbook.steps().len(), "step"));

        let steps = playbook.steps();
        let halt = self.cancel.child_token();
        let mut broken = None;
        let mut statuses = vec![StepStatus::Pending; steps.len()];
        let mut report = Report::default();
        let mut running = FuturesUnordered::new();
        loop {
            if !halt.is_cancelled() {
                for index in schedule::ready(steps, &statuses) {
                    statuses[index] = StepStatus::Running;
                    let (book, emitter, halt, entry) = (&book, &emitter, &halt, &steps[index]);
                    let step = one::OneStep { runner: self, playbook, book, emitter, halt, entry };
                    running.push(async move { (index, step.run().await) });
                }
            }
            let Some((index, ended)) = running.next().await else { break };
            let id = steps[index].about.id.to_string();
            statuses[index] = match ended {
                Ok(one::Ended::Verified { changed }) => {
                    if changed {
                        report.changed.push(id.clone());
                    }
                    report.verified.push(id);
                    StepStatus::Verified
                }
                Ok(one::Ended::Failed(error)) => {
                    report.failed.push(StepFailure { step: id, error });
                    StepStatus::Out
                }
                Ok(one::Ended::Cancelled) => StepStatus::Out,
                Err(error) => {
                    halt.cancel();
                    broken.get_or_insert(error);
                    StepStatus::Out
                }
            };
        }
        if let Some(error) = broken {
            emitter.broken(&error);
            return Err(error.into());
        }
        report.cancelled = self.cancel.is_cancelled() && report.verified.len() + report.failed.len() < steps.len();
        if !report.cancelled {
            for index in schedule::blocked(steps, &statuses) {
                let about = &steps[index].about;
                emitter.step(about, State::Blocked, 0, "a step before it failed".to_owned());
                report.blocked.push(about.id.to_string());
            }
        }
        emitter.run(State::RunFinished, ending(&report));
        Ok(report)
    }

    /// Where files that were replaced are kept, for undoing.
    fn originals(&self) -> PathBuf {
        self.state_dir.join("originals")
    }
}

fn ending(report: &Report) -> String {
    let Report { verified, changed, failed, blocked, cancelled } = report;
    let mut parts = vec![format!("{} verified, {} of them changed", verified.len(), changed.len())];
    if !failed.is_empty() {
        parts.push(format!("{} failed", failed.len()));
    }
    if !blocked.is_empty() {
        parts.push(format!("{} not tried", blocked.len()));
    }
    if *cancelled {
        parts.push("stopped before the end".to_owned());
    }
    parts.join(", ")
}

/// The ledger while a run has it open: every change of it is on disk before the run goes on.
struct Book<'a> {
    store: LedgerStore,
    host: &'a Host,
    ledger: Mutex<Ledger>,
}

impl<'a> Book<'a> {
    fn open(runner: &'a Runner, emitter: &Emitter<'_>) -> Result<Self, LedgerError> {
        // A run that was killed may have left a ledger that is seen but not yet durable. What is done now builds on it.
        runner.host.disk.sync_dir(&runner.state_dir)?;
        let store = LedgerStore::new(&runner.state_dir);
        let opened = store.open(&*runner.host.disk)?;
        if let Some(reason) = opened.recovered {
            emitter.run(State::LedgerRecovered, reason);
        }
        let ledger = Mutex::new(Ledger { run: emitter.run_id().to_owned(), ..opened.ledger });
        Ok(Self { store, host: &runner.host, ledger })
    }

    fn read<T>(&self, get: impl FnOnce(&Ledger) -> T) -> T {
        get(&self.ledger.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, edit: impl FnOnce(&mut Ledger)) -> Result<(), LedgerError> {
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        edit(&mut ledger);
        self.store.write(&*self.host.disk, &mut ledger)
    }
}
