//! What a step plans: changes of files, and acts.

use std::fmt;

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
}

impl Planned {
    /// An act of this name.
    pub fn act(key: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Act(Act { key: key.into(), what: what.into() })
    }

    /// These changes of files, to which acts may be added.
    pub fn files(changes: &[Change]) -> Vec<Self> {
        changes.iter().cloned().map(Self::File).collect()
    }
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
            Self::Act(act) => f.write_str(&act.what),
        }
    }
}
