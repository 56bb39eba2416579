//! Listens to a run and keeps its record on disk.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use engine::{Event, Sink};
use explain::Diagnostic;
use host::Disk;
use jiff::Timestamp;

use super::{
    Outcome, Process, Purpose, RecordedError, RunRecord, apply::Origin, process::boot_id, store, writer::Writer,
};

/// Keeps the record of one run. Nothing is written before the run begins.
pub struct RecordKeeper {
    disk: Arc<dyn Disk>,
    state_dir: PathBuf,
    origin: Origin,
    kept: Mutex<Option<Kept>>,
}

/// The record of a run that has begun.
struct Kept {
    record: RunRecord,
    /// Absent where the system gives no thread; then it is written at once.
    writer: Option<Writer<RunRecord>>,
}

impl RecordKeeper {
    /// For one run with this state directory.
    pub fn new(disk: &Arc<dyn Disk>, state_dir: &Path, purpose: Purpose) -> Self {
        let origin = Origin { purpose, boot_id: boot_id(&**disk), process: Process::current(&**disk) };
        Self { disk: disk.clone(), state_dir: state_dir.to_path_buf(), origin, kept: Mutex::default() }
    }

    /// Notes that there was no run at all, and why. Does nothing if there was one: its events say it.
    pub fn never_began(&self, playbook: &str, diagnostic: Diagnostic, now: Timestamp) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_some() {
            return;
        }
        let run = format!("{}-{}", now.strftime(store::SECOND), self.origin.process.pid);
        let mut record = RunRecord::new(&self.origin, &run, "", playbook, now);
        record.outcome = Outcome::Failed;
        record.ended = Some(now);
        "it ended before the first step".clone_into(&mut record.summary);
        record.last_error = Some(RecordedError { step: None, diagnostic: diagnostic.recorded(), time: now });
        *kept = Some(self.keep(record));
    }

    /// Returns when everything that was reported is written. Dropping the keeper does the same.
    pub fn finish(&self) {
        if let Some(Kept { writer: Some(writer), .. }) = &*self.kept.lock().unwrap_or_else(PoisonError::into_inner) {
            writer.finish();
        }
    }

    fn keep(&self, record: RunRecord) -> Kept {
        let (disk, state_dir) = (self.disk.clone(), self.state_dir.clone());
        let mut has_room = false;
        let writer = Writer::start(move |record: &RunRecord| {
            if !has_room {
                has_room = store::make_room(&*disk, &state_dir, record.started).is_ok();
            }
            write(record, &*disk, &state_dir);
        });
        let kept = Kept { record, writer: writer.ok() };
        self.put(&kept);
        kept
    }

    fn put(&self, Kept { record, writer }: &Kept) {
        match writer {
            Some(writer) => writer.put(record.clone()),
            None => write(record, &*self.disk, &self.state_dir),
        }
    }
}

/// Nothing is decided from a record, so a disk that is full must not end the run here: the ledger will fail, and say so.
fn write(record: &RunRecord, disk: &dyn Disk, state_dir: &Path) {
    let _ = record.write(disk, state_dir);
}

impl Sink for RecordKeeper {
    fn event(&self, event: &Event) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *kept {
            Some(kept) => {
                kept.record.apply(event);
                self.put(kept);
            }
            None => *kept = Some(self.keep(RunRecord::begun(&self.origin, event))),
        }
    }
}
