//! The ledger on disk, in two generations.
//!
//! `ledger.json` is replaced atomically; the one before it stays as `ledger.prev.json`. If the newest cannot be read,
//! the previous one is taken and the run says so. It is one write behind: each step is looked at again before anything
//! is done, so a run ends where it should, but if that write was a step's first, a reset will not know what that step
//! made. If neither can be read, the run stops; it never starts over on its own.
//!
//! No crash gets here: the newest is whole at every instant. The previous generation is for disks that lose what they
//! promised to keep, and for people with editors.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use explain::{Code, Explain};
use host::{Disk, HostError, create_dir_all, write_atomic};

use super::{Ledger, form};
use crate::{codes, ledger::form::Form};

/// Reads and writes the ledger of one machine.
pub struct LedgerStore {
    dir: PathBuf,
}

/// A ledger as it was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Opened {
    /// What it holds; empty on a machine that never had one.
    pub ledger: Ledger,
    /// Why the previous generation was taken instead of the newest, if it was.
    pub recovered: Option<String>,
}

/// Why there is no ledger to work with.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Neither generation can be read.
    #[error("cannot read the ledger {}: {reason}", .path.display())]
    Damaged {
        /// `ledger.json`.
        path: PathBuf,
        /// What is wrong with both.
        reason: String,
    },
    /// Another version wrote it.
    #[error("the ledger {} has version {version}; this program reads version {}", .path.display(), form::VERSION)]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// The disk refused.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Not expected to happen: the ledger has no form in JSON.
    #[error("cannot write the ledger as JSON")]
    Form(#[from] serde_json::Error),
}

impl Explain for LedgerError {
    fn code(&self) -> Code {
        match self {
            Self::Damaged { .. } | Self::Form(_) => codes::LEDGER_DAMAGED,
            Self::Version { version, .. } if *version > form::VERSION => codes::LEDGER_NEWER,
            Self::Version { .. } => codes::LEDGER_OLDER,
            Self::Host(error) => error.code(),
        }
    }
}

impl LedgerStore {
    /// The ledger in this state directory.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Reads the newest generation that is whole.
    pub fn open(&self, disk: &dyn Disk) -> Result<Opened, LedgerError> {
        let newest = Found::read(disk, &self.newest())?;
        let previous = Found::read(disk, &self.previous())?;
        match (newest, previous) {
            (Found::Good(ledger), _) => Ok(Opened { ledger: *ledger, recovered: None }),
            (Found::OtherVersion(version), _) => Err(LedgerError::Version { path: self.newest(), version }),
            (_, Found::OtherVersion(version)) => Err(LedgerError::Version { path: self.previous(), version }),
            (Found::Missing, Found::Missing) => Ok(Opened { ledger: Ledger::default(), recovered: None }),
            (newest, Found::Good(ledger)) => {
                let recovered = format!(
                    "{} {newest}; taking the previous generation, {}",
                    self.newest().display(),
                    ledger.generation
                );
                Ok(Opened { ledger: *ledger, recovered: Some(recovered) })
            }
            (newest, previous) => Err(LedgerError::Damaged {
                path: self.newest(),
                reason: format!("it {newest}, and {} {previous}", self.previous().display()),
            }),
        }
    }

    /// Writes the next generation; when this returns, it is durable.
    pub fn write(&self, disk: &dyn Disk, ledger: &mut Ledger) -> Result<(), LedgerError> {
        if !disk.exists(&self.dir)? {
            create_dir_all(disk, &self.dir, 0o755)?;
        }
        ledger.generation += 1;
        let text = form::write(ledger)?;
        self.keep_previous(disk)?;
        write_atomic(disk, &self.newest(), &text, 0o600)?;
        Ok(())
    }

    /// Gives the newest generation its second name, without a moment in which it has none. A damaged one is not kept:
    /// it would push out the whole one that it was recovered from.
    fn keep_previous(&self, disk: &dyn Disk) -> Result<(), LedgerError> {
        let newest = disk.read_optional(&self.newest())?;
        let whole = newest.as_deref().is_some_and(|text| matches!(form::read(text), Form::Good(_)));
        // They are the same when a write came only this far before it failed or was killed.
        if !whole || disk.read_optional(&self.previous())? == newest {
            return Ok(());
        }
        let link = self.dir.join(".ledger.prev.json.blackstart-new");
        if disk.exists(&link)? {
            disk.remove_file(&link)?;
        }
        disk.hard_link(&self.newest(), &link)
            .and_then(|()| disk.rename(&link, &self.previous()))
            .map_err(|error| HostError { path: self.previous(), ..error }.into())
    }

    fn newest(&self) -> PathBuf {
        self.dir.join("ledger.json")
    }

    fn previous(&self) -> PathBuf {
        self.dir.join("ledger.prev.json")
    }

    /// The state directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

enum Found {
    Good(Box<Ledger>),
    Missing,
    Damaged(String),
    OtherVersion(u64),
}

impl Found {
    fn read(disk: &dyn Disk, path: &Path) -> Result<Self, HostError> {
        Ok(match disk.read_optional(path)?.as_deref().map(form::read) {
            None => Self::Missing,
            Some(Form::Good(ledger)) => Self::Good(ledger),
            Some(Form::Damaged(reason)) => Self::Damaged(reason),
            Some(Form::Newer(version) | Form::Older(version)) => Self::OtherVersion(version),
        })
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good(_) => f.write_str("is whole"),
            Self::Missing => f.write_str("is missing"),
            Self::Damaged(reason) => write!(f, "is damaged: {reason}"),
            Self::OtherVersion(version) => write!(f, "has version {version}"),
        }
    }
}
