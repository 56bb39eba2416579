//! Where records lie: `runs/RUN.json` in the state directory, the last twenty.
//!
//! A file is replaced by a rename, so a reader sees it whole; it is not synced, so a power cut may lose the last moments,
//! or leave an empty file, which a reader passes over.

use std::path::{Path, PathBuf};

use explain::{Code, Explain};
use host::{Disk, HostError, create_dir_all};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

use super::{Purpose, RunRecord, SCHEMA_VERSION};
use crate::codes;

/// The directory in the state directory.
pub const RUNS: &str = "runs";

/// How many runs are kept.
const KEPT: usize = 20;

/// What names begin with: the second the run began in.
pub(super) const SECOND: &str = "%Y%m%dT%H%M%SZ";

/// Runs that begin at the same time are not apart by more than this.
const LATER: SignedDuration = SignedDuration::from_mins(1);

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file or the directory cannot be read.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The file holds something else.
    #[error("{path} is not a run record")]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A newer program has written it.
    #[error("{path} has version {found}, and this program reads version {SCHEMA_VERSION}")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

impl Explain for RecordError {
    fn code(&self) -> Code {
        match self {
            Self::Host(error) => error.code(),
            Self::Form { .. } | Self::Version { .. } => codes::BAD_RECORD,
        }
    }
}

impl RunRecord {
    /// The run of this id; `None` if no such run is kept.
    pub fn read(disk: &dyn Disk, state_dir: &Path, run: &str) -> Result<Option<Self>, RecordError> {
        let path = path(state_dir, run);
        let Some(text) = disk.read_optional(&path)? else { return Ok(None) };
        match parse(&text) {
            Ok(Ok(record)) => Ok(Some(record)),
            Ok(Err(found)) => Err(RecordError::Version { path, found }),
            Err(source) => Err(RecordError::Form { path, source }),
        }
    }

    /// The run that began last, of those that can be read.
    pub fn latest(disk: &dyn Disk, state_dir: &Path) -> Result<Option<Self>, RecordError> {
        newest(disk, state_dir, |_| true)
    }

    /// The run that began last, of those for this purpose.
    pub fn latest_for(purpose: Purpose, disk: &dyn Disk, state_dir: &Path) -> Result<Option<Self>, RecordError> {
        newest(disk, state_dir, |record| record.purpose == purpose)
    }

    /// All runs that are kept and can be read, the newest first.
    pub fn all(disk: &dyn Disk, state_dir: &Path) -> Result<Vec<Self>, RecordError> {
        let runs = kept(disk, state_dir)?;
        let mut all: Vec<Self> = runs.iter().filter_map(|run| readable(disk, state_dir, run)).collect();
        all.sort_by_key(|record| std::cmp::Reverse(record.started));
        Ok(all)
    }

    /// Replaces the record.
    pub(super) fn write(&self, disk: &dyn Disk, state_dir: &Path) -> Result<(), RecordError> {
        let path = path(state_dir, &self.run);
        let text = serde_json::to_vec(self).map_err(|source| RecordError::Form { path: path.clone(), source })?;
        let fresh = state_dir.join(RUNS).join(format!(".{}.json", self.run));
        if disk.exists(&fresh)? {
            disk.remove_file(&fresh)?;
        }
        if let Err(error) = disk.create(&fresh, &text, 0o644).and_then(|()| disk.rename(&fresh, &path)) {
            // A full disk must not stay full because of us; the first error is the one worth reporting.
            let _ = disk.remove_file(&fresh);
            return Err(error.into());
        }
        Ok(())
    }
}

/// The version is looked at first: a newer form need not be understood to be distinguished from a broken one.
fn parse(text: &[u8]) -> Result<Result<RunRecord, u32>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    match serde_json::from_slice(text)? {
        Versioned { v: SCHEMA_VERSION } => serde_json::from_slice(text).map(Ok),
        Versioned { v } => Ok(Err(v)),
    }
}

/// Makes room for a run that begins now, and removes what a killed run left half written. A run that began much later was
/// recorded with a clock that was wrong: it would be the newest one until that time has come.
pub(super) fn make_room(disk: &dyn Disk, state_dir: &Path, now: Timestamp) -> Result<(), HostError> {
    let dir = state_dir.join(RUNS);
    create_dir_all(disk, &dir, 0o755)?;
    let later = now.saturating_add(LATER).unwrap_or(now).strftime(SECOND).to_string();
    let (mut leftovers, mut files): (Vec<String>, Vec<String>) =
        disk.list(&dir)?.into_iter().partition(|name| name.starts_with('.') || *name > later);
    files.truncate((files.len() + 1).saturating_sub(KEPT));
    leftovers.append(&mut files);
    leftovers.iter().try_for_each(|name| disk.remove_file(&dir.join(name)))
}

fn path(state_dir: &Path, run: &str) -> PathBuf {
    state_dir.join(RUNS).join(format!("{run}.json"))
}

/// The ids of the runs that are kept, in the order of their names.
fn kept(disk: &dyn Disk, state_dir: &Path) -> Result<Vec<String>, HostError> {
    let names = match disk.list(&state_dir.join(RUNS)) {
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        names => names?,
    };
    let runs = names.iter().filter(|name| !name.starts_with('.')).filter_map(|name| name.strip_suffix(".json"));
    Ok(runs.map(str::to_owned).collect())
}

/// A record that cannot be read is skipped, and must not hide the others.
fn readable(disk: &dyn Disk, state_dir: &Path, run: &str) -> Option<RunRecord> {
    RunRecord::read(disk, state_dir, run).ok().flatten()
}

/// Names begin with the second the run began in; within one second only the records know the order.
fn newest(
    disk: &dyn Disk,
    state_dir: &Path,
    wanted: impl Fn(&RunRecord) -> bool,
) -> Result<Option<RunRecord>, RecordError> {
    let runs = kept(disk, state_dir)?;
    let second = |run: &String| run.split('-').next().map(str::to_owned);
    for same_second in runs.chunk_by(|one, other| second(one) == second(other)).rev() {
        let records = same_second.iter().filter_map(|run| readable(disk, state_dir, run));
        if let Some(latest) = records.filter(|record| wanted(record)).max_by_key(|record| record.started) {
            return Ok(Some(latest));
        }
    }
    Ok(None)
}
