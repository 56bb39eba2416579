//! Reset: takes back what the ledger knows of a playbook, the last thing first.
//!
//! Errors are collected; everything that can be taken back is. What could not stays in the ledger, so that the next
//! try goes on from there.

use std::path::Path;

use explain::counted;
use host::Host;
use tokio::task::yield_now;

use super::{Book, RunError, Runner, StepFailure, listen::listening, teller::Teller};
use crate::{
    Ledger, LedgerError, LedgerStore, Notes, Playbook, Progress, Reversal, State, StepError, StepRecord, Undo, lock,
    reversal::Reverse, undo,
};

/// How an undo ended.
#[derive(Debug, Default)]
pub struct UndoReport {
    /// Steps that were taken back, in that order.
    pub undone: Vec<String>,
    /// Steps that were to be kept, at least in part.
    pub kept: Vec<String>,
    /// What could not be taken back.
    pub failed: Vec<StepFailure>,
    /// What there is to say besides.
    pub notes: Notes,
    /// True if it was stopped from outside.
    pub cancelled: bool,
}

/// What taking back one step would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepReversal {
    /// Its id.
    pub step: String,
    /// Everything that would be done, in that order, for a person to read.
    pub shows: Vec<String>,
    /// The recorded changes, in the order in which they would be taken back.
    pub undo: Vec<Undo>,
}

impl Runner {
    /// Takes back all steps of the playbook that the ledger knows, in the reverse of the order in which they were
    /// started.
    pub async fn undo(&self, playbook: &Playbook) -> Result<UndoReport, RunError> {
        self.reverse(playbook).await
    }

    /// The same by a list that needs nothing the playbook was made from.
    pub async fn take_back(&self, reversal: &Reversal) -> Result<UndoReport, RunError> {
        self.reverse(reversal).await
    }

    /// What [`Runner::take_back`] would do. Takes no lock and changes nothing.
    pub fn plan_take_back(&self, reversal: &Reversal) -> Result<Vec<StepReversal>, LedgerError> {
        let ledger = LedgerStore::new(&self.state_dir).open(&*self.host.disk)?.ledger;
        let steps = last_first(&ledger, reversal).into_iter().filter(|(step, _)| !reversal.keeps(step));
        let plan = |(step, record): (String, StepRecord)| {
            let undo: Vec<Undo> = record.undo.into_iter().rev().collect();
            let entries = undo.iter().filter_map(|entry| shown(entry, &step, reversal));
            StepReversal { shows: reversal.shows(&step).into_iter().chain(entries).collect(), undo, step }
        };
        Ok(steps.map(plan).collect())
    }

    async fn reverse(&self, how: &dyn Reverse) -> Result<UndoReport, RunError> {
        let _lock = lock::acquire(&self.host, &self.state_dir, how.playbook())?;
        let teller = Teller::new(self, how.playbook(), 0);
        let book = Book::open(self, &teller)?;
        let mut report = UndoReport::default();
        let (kept, records): (Vec<_>, Vec<_>) =
            book.read(|ledger| last_first(ledger, how)).into_iter().partition(|(step, _)| how.keeps(step));
        report.kept = kept.into_iter().map(|(step, _)| step).collect();

        teller.expect(records.len());
        teller.run(State::RunStarted, format!("{} to take back", counted(records.len(), "step")));
        for (step, record) in records {
            let one = OneReversal { runner: self, how, teller: &teller, step: &step };
            let Some(left) = one.run(&record, &mut report).await else {
                break; // the entries of this step stay as they are: taking back twice does no harm
            };
            let key = Ledger::key(how.playbook(), &step);
            let Left { entries, is_over, is_kept } = left;
            book.write(|ledger| match ledger.steps.get_mut(&key) {
                Some(record) if !is_over || is_kept => {
                    record.progress = Progress::Started;
                    record.undo = entries;
                }
                _ => drop(ledger.steps.remove(&key)),
            })?;
            if is_over {
                teller.undo(
                    &step,
                    State::Undone,
                    if is_kept { "taken back, but for what is kept" } else { "taken back" }.to_owned(),
                );
                if is_kept { &mut report.kept } else { &mut report.undone }.push(step);
            }
        }
        // Only now: until the ledger has forgotten an entry, a new run may rely on its original.
        let needed = book.read(|ledger| {
            let entries = ledger.steps.values().flat_map(|record| &record.undo);
            entries.filter_map(Undo::original).map(Path::to_path_buf).collect()
        });
        undo::sweep_originals(&self.originals(), &needed, &*self.host.disk).map_err(LedgerError::from)?;
        let stopped = if report.cancelled { ", stopped before the end" } else { "" };
        let text = format!("{} taken back, {}{stopped}", report.undone.len(), counted(report.failed.len(), "error"));
        teller.run(State::RunFinished, text);
        Ok(report)
    }
}

/// What is said of an entry; nothing where it was said before.
fn shown(entry: &Undo, step: &str, how: &dyn Reverse) -> Option<String> {
    match entry {
        Undo::Act { key } => how.shows_act(step, key),
        file => Some(file.to_string()),
    }
}

/// The steps that the ledger knows, in the order in which they are taken back.
fn last_first(ledger: &Ledger, how: &dyn Reverse) -> Vec<(String, StepRecord)> {
    let prefix = Ledger::key(how.playbook(), "");
    let ours = ledger.steps.iter().filter_map(|(key, record)| Some((key.strip_prefix(&prefix)?, record)));
    let mut records: Vec<(String, StepRecord)> = ours.map(|(step, record)| (step.to_owned(), record.clone())).collect();
    records.sort_by_key(|(_, record)| std::cmp::Reverse(record.sequence));
    records
}

/// What the ledger has to remember of a step.
struct Left {
    /// To be taken back another time, in the order in which they were done.
    entries: Vec<Undo>,
    /// Nothing failed.
    is_over: bool,
    /// Something was to be kept.
    is_kept: bool,
}

/// One step that is being taken back.
struct OneReversal<'a> {
    runner: &'a Runner,
    how: &'a dyn Reverse,
    teller: &'a Teller<'a>,
    step: &'a str,
}

impl OneReversal<'_> {
    /// What is left to take back; nobody can say if it was stopped.
    async fn run(&self, record: &StepRecord, report: &mut UndoReport) -> Option<Left> {
        if !self.goes_on(report).await {
            return None;
        }
        for what in self.how.shows(self.step) {
            self.teller.undo(self.step, State::Undoing, what);
        }
        match self.telling(|host| async move { self.how.before(self.step, &host).await }).await {
            Ok(notes) => {
                for note in &notes {
                    self.teller.undo(self.step, State::Undoing, note.clone());
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
            if let Some(what) = shown(entry, self.step, self.how) {
                self.teller.undo(self.step, State::Undoing, what);
            }
            let taken_back = match entry {
                Undo::Act { key } => {
                    self.telling(|host| async move { self.how.act(self.step, key, &host).await }).await
                }
                file => file.take_back(&*self.runner.host.disk).map_err(StepError::from),
            };
            let is_kept = matches!(entry, Undo::Act { key } if self.how.keeps_entry(self.step, key));
            left.is_kept |= is_kept;
            if is_kept || taken_back.is_err() {
                left.entries.insert(0, entry.clone());
            }
            if let Err(error) = taken_back {
                left.is_over = false;
                self.failed(error, report);
            }
        }
        if let Err(error) = self.telling(|host| async move { self.how.after(self.step, &host).await }).await {
            left.is_over = false;
            self.failed(error, report);
        }
        Some(left)
    }

    /// Works with a host whose words are told.
    async fn telling<T, F: Future<Output = Result<T, StepError>>>(
        &self,
        work: impl FnOnce(Host) -> F,
    ) -> Result<T, StepError> {
        listening(&self.runner.host, work, |what| self.teller.undo(self.step, State::Undoing, what)).await
    }

    async fn goes_on(&self, report: &mut UndoReport) -> bool {
        yield_now().await; // removing files waits for nothing, and a signal is to be heard before the end
        if self.runner.cancel.is_cancelled() {
            self.teller.undo(self.step, State::Cancelled, "stopped; run again to go on".to_owned());
            report.cancelled = true;
        }
        !report.cancelled
    }

    fn failed(&self, error: StepError, report: &mut UndoReport) {
        self.teller.trouble(self.step, State::UndoFailed, 1, &error);
        report.failed.push(StepFailure { step: self.step.to_owned(), error });
    }
}
