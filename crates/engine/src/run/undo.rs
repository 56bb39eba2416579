//! Reset: undoes what the ledger knows of a playbook, the last thing first.
//!
//! Errors are collected; everything that can be undone is. What could not stays in the ledger, so that the next
//! try goes on from there.

use std::path::Path;

use explain::counted;
use host::Host;
use tokio::task::yield_now;

use super::{Book, RunError, Runner, StepFailure, emitter::Emitter, listen::listening};
use crate::{
    Ledger, LedgerError, LedgerStore, Notes, Progress, State, StepError, StepRecord, UndoEntry, Undos, lock,
    undo::AnyUndo, undo_entry,
};

/// How an undo ended.
#[derive(Debug, Default)]
pub struct UndoReport {
    /// Steps that were undone, in that order.
    pub undone: Vec<String>,
    /// Steps that were to be kept, at least in part.
    pub kept: Vec<String>,
    /// What could not be undone.
    pub failed: Vec<StepFailure>,
    /// What there is to say besides.
    pub notes: Notes,
    /// True if it was stopped from outside.
    pub cancelled: bool,
}

/// What undoing one step would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepUndo {
    /// Its id.
    pub step: String,
    /// Everything that would be done, in that order, for a person to read.
    pub shows: Vec<String>,
    /// The recorded changes, in the order in which they would be undone.
    pub entries: Vec<UndoEntry>,
}

impl Runner {
    /// Undoes all steps of the playbook that the ledger knows, in the reverse of the order in which they were started.
    pub async fn undo(&self, undos: &Undos) -> Result<UndoReport, RunError> {
        let _lock = lock::acquire(&self.host, &self.state_dir, undos.playbook())?;
        let emitter = Emitter::new(self, undos.playbook(), 0);
        let book = Book::open(self, &emitter)?;
        let mut report = UndoReport::default();
        let (kept, records): (Vec<_>, Vec<_>) =
            book.read(|ledger| last_first(ledger, undos)).into_iter().partition(|(step, _)| undos.keeps(step));
        report.kept = kept.into_iter().map(|(step, _)| step).collect();

        emitter.expect(records.len());
        emitter.run(State::RunStarted, format!("{} to undo", counted(records.len(), "step")));
        for (step, record) in records {
            let one = OneUndo { runner: self, undo: undos.get(&step), emitter: &emitter, step: &step };
            let Some(left) = one.run(&record, &mut report).await else {
                break; // the entries of this step stay as they are: undoing twice does no harm
            };
            let key = Ledger::key(undos.playbook(), &step);
            let Left { entries, is_over, is_kept } = left;
            book.write(|ledger| match ledger.steps.get_mut(&key) {
                Some(record) if !is_over || is_kept => {
                    record.progress = Progress::Started;
                    record.undo = entries;
                }
                _ => drop(ledger.steps.remove(&key)),
            })?;
            if is_over {
                let how = if is_kept { "undone, but for what is kept" } else { "undone" };
                emitter.undo(&step, State::Undone, how.to_owned());
                if is_kept { &mut report.kept } else { &mut report.undone }.push(step);
            }
        }
        // Only now: until the ledger has forgotten an entry, a new run may rely on its original.
        let needed = book.read(|ledger| {
            let entries = ledger.steps.values().flat_map(|record| &record.undo);
            entries.filter_map(UndoEntry::original).map(Path::to_path_buf).collect()
        });
        undo_entry::sweep_originals(&self.originals(), &needed, &*self.host.disk).map_err(LedgerError::from)?;
        let stopped = if report.cancelled { ", stopped before the end" } else { "" };
        let text = format!("{} undone, {}{stopped}", report.undone.len(), counted(report.failed.len(), "error"));
        emitter.run(State::RunFinished, text);
        Ok(report)
    }

    /// What [`Runner::undo`] would do. Takes no lock and changes nothing.
    pub fn plan_undo(&self, undos: &Undos) -> Result<Vec<StepUndo>, LedgerError> {
        let ledger = LedgerStore::new(&self.state_dir).open(&*self.host.disk)?.ledger;
        let steps = last_first(&ledger, undos).into_iter().filter(|(step, _)| !undos.keeps(step));
        let plan = |(step, record): (String, StepRecord)| {
            let undo = undos.get(&step);
            let entries: Vec<UndoEntry> = record.undo.into_iter().rev().collect();
            let shown = entries.iter().filter_map(|entry| shown(entry, undo));
            StepUndo { shows: undo.map(AnyUndo::shows).into_iter().flatten().chain(shown).collect(), entries, step }
        };
        Ok(steps.map(plan).collect())
    }
}

/// What is shown of an entry; nothing where it was shown before.
fn shown(entry: &UndoEntry, undo: Option<&dyn AnyUndo>) -> Option<String> {
    match entry {
        UndoEntry::Act { key } => undo?.shows_act(key),
        file => Some(file.to_string()),
    }
}

/// The steps that the ledger knows, in the order in which they are undone.
fn last_first(ledger: &Ledger, undos: &Undos) -> Vec<(String, StepRecord)> {
    let prefix = Ledger::key(undos.playbook(), "");
    let ours = ledger.steps.iter().filter_map(|(key, record)| Some((key.strip_prefix(&prefix)?, record)));
    let mut records: Vec<(String, StepRecord)> = ours.map(|(step, record)| (step.to_owned(), record.clone())).collect();
    records.sort_by_key(|(_, record)| std::cmp::Reverse(record.sequence));
    records
}

/// What the ledger has to remember of a step.
struct Left {
    /// To be undone another time, in the order in which they were done.
    entries: Vec<UndoEntry>,
    /// Nothing failed.
    is_over: bool,
    /// Something was to be kept.
    is_kept: bool,
}

/// One step that is being undone.
struct OneUndo<'a> {
    runner: &'a Runner,
    /// No version may know the step any more.
    undo: Option<&'a dyn AnyUndo>,
    emitter: &'a Emitter<'a>,
    step: &'a str,
}

impl OneUndo<'_> {
    /// What is left to undo; unknown if it was stopped.
    async fn run(&self, record: &StepRecord, report: &mut UndoReport) -> Option<Left> {
        if !self.goes_on(report).await {
            return None;
        }
        for what in self.undo.map(AnyUndo::shows).into_iter().flatten() {
            self.emitter.undo(self.step, State::Undoing, what);
        }
        match self.before().await {
            Ok(notes) => {
                for note in &notes {
                    self.emitter.undo(self.step, State::Undoing, note.clone());
                }
                report.notes.extend(notes);
            }
            Err(error) => {
                self.failed(error, report);
                return Some(Left { entries: record.undo.clone(), is_over: false, is_kept: false });
            }
        }
        let mut left = Left { entries: Vec::new(), is_over: true, is_kept: false };
        for entry in record.undo.iter().rev() {
            if !self.goes_on(report).await {
                return None;
            }
            if let Some(what) = shown(entry, self.undo) {
                self.emitter.undo(self.step, State::Undoing, what);
            }
            let (undone, is_kept) = match entry {
                UndoEntry::Act { key } => (self.act(key).await, self.undo.is_some_and(|undo| undo.keeps(key))),
                file => (file.undo(&*self.runner.host.disk).map_err(StepError::from), false),
            };
            left.is_kept |= is_kept;
            if is_kept || undone.is_err() {
                left.entries.insert(0, entry.clone());
            }
            if let Err(error) = undone {
                left.is_over = false;
                self.failed(error, report);
            }
        }
        if let Err(error) = self.after().await {
            left.is_over = false;
            self.failed(error, report);
        }
        Some(left)
    }

    async fn before(&self) -> Result<Notes, StepError> {
        let Some(undo) = self.undo.filter(|undo| self.is_due(*undo)) else { return Ok(Notes::new()) };
        self.reporting(|host| async move { undo.before(&host).await }).await
    }

    async fn act(&self, key: &str) -> Result<(), StepError> {
        match self.undo {
            None => Err(StepError::no_such_step(self.step, key)),
            Some(undo) if self.is_due(undo) => self.reporting(|host| async move { undo.act(key, &host).await }).await,
            Some(_) => Ok(()),
        }
    }

    async fn after(&self) -> Result<(), StepError> {
        let Some(undo) = self.undo.filter(|undo| self.is_due(*undo)) else { return Ok(()) };
        self.reporting(|host| async move { undo.after(&host).await }).await
    }

    fn is_due(&self, undo: &dyn AnyUndo) -> bool {
        self.runner.host.is_live || !undo.only_live()
    }

    /// Works with a host whose messages become events.
    async fn reporting<T, F: Future<Output = Result<T, StepError>>>(
        &self,
        work: impl FnOnce(Host) -> F,
    ) -> Result<T, StepError> {
        listening(&self.runner.host, work, |what| self.emitter.undo(self.step, State::Undoing, what)).await
    }

    async fn goes_on(&self, report: &mut UndoReport) -> bool {
        yield_now().await; // removing files waits for nothing, and a signal is to be heard before the end
        if self.runner.cancel.is_cancelled() {
            self.emitter.undo(self.step, State::Cancelled, "stopped; run again to go on".to_owned());
            report.cancelled = true;
        }
        !report.cancelled
    }

    fn failed(&self, error: StepError, report: &mut UndoReport) {
        self.emitter.failure(self.step, State::UndoFailed, 1, &error);
        report.failed.push(StepFailure { step: self.step.to_owned(), error });
    }
}
