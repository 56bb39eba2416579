//! Reset: takes back what the ledger knows of a playbook, the last thing first.
//!
//! Errors are collected; everything that can be taken back is. What could not stays in the ledger, so that the next
//! try goes on from there.

use std::path::Path;

use explain::counted;
use tokio::task::yield_now;

use super::{Book, RunError, Runner, StepFailure, teller::Teller};
use crate::{Ledger, LedgerError, Playbook, Progress, State, StepError, StepRecord, Undo, lock, undo};

/// How an undo ended.
#[derive(Debug, Default)]
pub struct UndoReport {
    /// Steps that were taken back, in that order.
    pub undone: Vec<String>,
    /// What could not be taken back.
    pub failed: Vec<StepFailure>,
    /// True if it was stopped from outside.
    pub cancelled: bool,
}

impl Runner {
    /// Takes back all steps of the playbook that the ledger knows, in the reverse of the order in which they were
    /// started.
    pub async fn undo(&self, playbook: &Playbook) -> Result<UndoReport, RunError> {
        let _lock = lock::acquire(&self.host, &self.state_dir, playbook.name())?;
        let teller = Teller::new(self, playbook);
        let book = Book::open(self, &teller)?;
        let mut report = UndoReport::default();
        let prefix = Ledger::key(playbook.name(), "");
        let mut records: Vec<(String, StepRecord)> = book.read(|ledger| {
            let ours = ledger.steps.iter().filter(|(key, _)| key.starts_with(&prefix));
            ours.map(|(key, record)| (key.clone(), record.clone())).collect()
        });
        records.sort_by_key(|(_, record)| std::cmp::Reverse(record.sequence));

        teller.expect(records.len());
        teller.run(State::RunStarted, format!("{} to take back", counted(records.len(), "step")));
        for (key, record) in records {
            let step = key[prefix.len()..].to_owned();
            let mut left = Vec::new();
            for entry in record.undo.iter().rev() {
                yield_now().await; // removing files waits for nothing, and a signal is to be heard before the end
                if self.cancel.is_cancelled() {
                    teller.undo(&step, State::Cancelled, "stopped; run again to go on".to_owned());
                    report.cancelled = true;
                    break;
                }
                teller.undo(&step, State::Undoing, describe(entry));
                if let Err(error) = self.take_back(playbook, &step, entry).await {
                    teller.trouble(&step, State::UndoFailed, 1, &error);
                    left.push(entry.clone());
                    report.failed.push(StepFailure { step: step.clone(), error });
                }
            }
            if report.cancelled {
                break; // the entries of this step stay as they are: taking back twice does no harm
            }
            left.reverse();
            let done = left.is_empty();
            book.write(|ledger| match (done, ledger.steps.get_mut(&key)) {
                (false, Some(record)) => {
                    record.progress = Progress::Started;
                    record.undo = left;
                }
                _ => drop(ledger.steps.remove(&key)),
            })?;
            if done {
                teller.undo(&step, State::Undone, "taken back".to_owned());
                report.undone.push(step);
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

    async fn take_back(&self, playbook: &Playbook, step: &str, entry: &Undo) -> Result<(), StepError> {
        let Undo::Act { key } = entry else {
            return Ok(entry.take_back(&*self.host.disk)?);
        };
        match playbook.position(step) {
            Some(index) => playbook.steps()[index].step.undo(key, &self.host).await,
            None => Err(StepError::new(
                crate::codes::NO_SUCH_ACTION,
                format!("the playbook has no step `{step}` any more, so `{key}` cannot be taken back"),
            )),
        }
    }
}

fn describe(entry: &Undo) -> String {
    match entry {
        Undo::RemoveFile(path) => format!("remove {}", path.display()),
        Undo::RemoveDirectory(path) => format!("remove directory {} if it is empty", path.display()),
        Undo::Restore { path, .. } => format!("restore {}", path.display()),
        Undo::RemoveLink(path) => format!("remove link {}", path.display()),
        Undo::RestoreLink { path, target } => format!("point {} back to {}", path.display(), target.display()),
        Undo::RestoreMode { path, mode } => format!("restore the mode of {} ({mode:04o})", path.display()),
        Undo::Act { key } => format!("take back {key}"),
    }
}
