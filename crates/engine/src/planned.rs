//! What a step plans: changes of files, and acts.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use host::Change;

/// Something that is no file, and that only the step itself knows how to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The step's own name for it.
    pub key: String,
    /// What a dry run says, beginning with a verb.
    pub what: String,
}

/// One thing that a step is going to do. A step that only writes files plans a plain [`Change`] instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Planned {
    /// A file, a directory or a link.
    File(Change),
    /// Something else.
    Act(Act),
    /// Files whose content another machine has: which files is planned, what they hold comes with
    /// [`Step::fetch`](crate::Step::fetch). No other file is written.
    Fetch(Act, Vec<PathBuf>),
    /// What something else is going to make or change, an owned resource. It goes into the ledger, for its undo; nothing is
    /// done now.
    Claim(Act),
}

impl Planned {
    /// An act of this name.
    pub fn act(key: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Act(Act { key: key.into(), what: what.into() })
    }

    /// An act of this name that gets the content of these files, in the order in which they are written.
    pub fn fetch(key: impl Into<String>, what: impl Into<String>, files: Vec<PathBuf>) -> Self {
        Self::Fetch(Act { key: key.into(), what: what.into() }, files)
    }

    /// The claim of an owned resource, which is undone by this name.
    pub fn claim(key: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Claim(Act { key: key.into(), what: what.into() })
    }

    /// These changes of files, to which acts may be added.
    pub fn files(changes: &[Change]) -> Vec<Self> {
        changes.iter().cloned().map(Self::File).collect()
    }

    /// The files that it writes although their content is not known yet.
    pub fn fetched(&self) -> &[PathBuf] {
        match self {
            Self::Fetch(_, files) => files,
            Self::File(_) | Self::Act(_) | Self::Claim(_) => &[],
        }
    }

    /// What a dry run says, one line for each thing that is done.
    pub fn lines(&self) -> Vec<String> {
        let fetched = |path: &PathBuf| format!("write {} (with what was answered)", path.display());
        [self.to_string()].into_iter().chain(self.fetched().iter().map(fetched)).collect()
    }
}

/// The first of the changes that is of none of the files, nor of a directory that one of them is in.
pub(crate) fn unplanned<'a>(changes: &'a [Change], files: &[PathBuf]) -> Option<&'a Path> {
    let is_planned = |change: &&Change| match change {
        Change::Directory { path, .. } => files.iter().any(|file| file.starts_with(path)),
        other => files.iter().any(|file| file == other.path()),
    };
    changes.iter().find(|change| !is_planned(change)).map(Change::path)
}

impl From<Change> for Planned {
    fn from(change: Change) -> Self {
        Self::File(change)
    }
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(change) => change.fmt(f),
            Self::Act(act) | Self::Fetch(act, _) | Self::Claim(act) => f.write_str(&act.what),
        }
    }
}
