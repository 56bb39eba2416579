//! What can go wrong with a backup. No message holds anything secret.

use std::{io, path::PathBuf};

use etcd::{BadSnapshot, EtcdError};
use explain::{Code, Explain};
use host::{CommandError, HostError};

use crate::codes;

/// What can go wrong with a backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Some other file.
    #[error("{} is not a backup: {why}", path.display())]
    NotABackup {
        /// The file.
        path: PathBuf,
        /// What was seen.
        why: String,
    },
    /// Not for this key or passphrase.
    #[error("{} does not open with this {}", path.display(), if *by_passphrase { "passphrase" } else { "key" })]
    WrongKey {
        /// The file.
        path: PathBuf,
        /// Whether a passphrase was tried, or a key.
        by_passphrase: bool,
    },
    /// A byte was changed.
    #[error("{} is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        why: String,
    },
    /// It ends too early, as far as can be seen: a change in its last bytes looks the same.
    #[error("the end of {} is missing, or not what was written", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// Of a version that this program cannot know.
    #[error("{} has version {version}, and this program knows up to {known}; it was made by blackstart {program}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// The newest this program knows.
        known: u32,
        /// The program that made it.
        program: String,
    },
    /// The snapshot in it, or on its own.
    #[error("{} does not hold a complete snapshot", path.display())]
    Snapshot {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: BadSnapshot,
    },
    /// Neither kind of key.
    #[error("not a key: it must hold one line `AGE-SECRET-KEY-1…`, or the text of a `join.key`")]
    BadKey,
    /// Easily guessed.
    #[error("the passphrase has fewer than {0} characters")]
    ShortPassphrase(usize),
    /// Nothing is overwritten.
    #[error("{} exists", .0.display())]
    Taken(PathBuf),
    /// A backup without it would be of no use.
    #[error("{} is missing", .0.display())]
    Incomplete(PathBuf),
    /// No configuration.
    #[error("{} has {size} bytes, and no file of a configuration has more than {limit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// What is allowed.
        limit: u64,
    },
    /// In the way of a restore.
    #[error("{} on this machine differ{s} from the backup: {list}", explain::counted(.0.len(), "file"),
        s = if .0.len() == 1 { "s" } else { "" },
        list = .0.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    Different(Vec<PathBuf>),
    /// In the way of a restore.
    #[error("{} still run{s}", .0.join(" and "), s = if .0.len() == 1 { "s" } else { "" })]
    Running(Vec<&'static str>),
    /// etcd's tool failed.
    #[error("etcd's data cannot be made from the snapshot")]
    NotRestored(#[source] CommandError),
    /// Of another cluster, or a worker.
    #[error("{0}")]
    WrongNode(String),
    /// It cannot be read any more.
    #[error("the configuration in the backup has {}: {first}", explain::counted(*.count, "problem"))]
    BadConfiguration {
        /// How many.
        count: usize,
        /// The first of them.
        first: String,
    },
    /// No key could open it.
    #[error("neither {} nor {} is there", .0.display(), .1.display())]
    NoKey(PathBuf, PathBuf),
    /// etcd.
    #[error(transparent)]
    Etcd(#[from] EtcdError),
    /// A file.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl BackupError {
    /// A file of this computer that cannot be written.
    pub(crate) fn writing(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| HostError { doing: "write", path, source }.into()
    }

    /// A file of this computer that cannot be read.
    pub(crate) fn reading(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| HostError { doing: "read", path, source }.into()
    }
}

impl Explain for BackupError {
    fn code(&self) -> Code {
        match self {
            Self::NotABackup { .. } => codes::NOT_A_BACKUP,
            Self::WrongKey { .. } => codes::WRONG_KEY,
            Self::Damaged { .. } => codes::DAMAGED,
            Self::Truncated { .. } => codes::TRUNCATED,
            Self::Newer { .. } => codes::NEWER,
            Self::Snapshot { source, .. } => source.code(),
            Self::BadKey => codes::BAD_KEY,
            Self::ShortPassphrase(_) => codes::SHORT_PASSPHRASE,
            Self::Taken(_) => codes::TAKEN,
            Self::Incomplete(_) => codes::INCOMPLETE,
            Self::TooLarge { .. } => codes::TOO_LARGE,
            Self::Different(_) => codes::DIFFERENT,
            Self::Running(_) => codes::RUNNING,
            // A tool that is not installed has a better answer of its own.
            Self::NotRestored(CommandError::NotStarted { .. }) => host::codes::NO_COMMAND,
            Self::NotRestored(CommandError::Failed { .. }) => codes::NOT_RESTORED,
            Self::WrongNode(_) => codes::WRONG_NODE,
            Self::BadConfiguration { .. } => codes::BAD_CONFIGURATION,
            Self::NoKey(..) => codes::NO_KEY,
            Self::Etcd(error) => error.code(),
            Self::Host(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::WrongKey { by_passphrase: true, .. } => Some(
                "type it again: capitals and spaces count; or take the passphrase that this backup was made with"
                    .into(),
            ),
            _ => None,
        }
    }
}
