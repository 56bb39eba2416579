//! What can go wrong at the door to the machine.

use std::{io, path::PathBuf};

use explain::{Code, Explain};

use crate::codes;

/// A file operation that failed: what was being done, and to which path.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {path}")]
pub struct HostError {
    /// `read`, `write`, …: a verb that fits behind "cannot".
    pub doing: &'static str,
    /// The path as the caller named it.
    pub path: PathBuf,
    /// The system's error.
    #[source]
    pub source: io::Error,
}

impl HostError {
    /// True where the path does not exist.
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

impl Explain for HostError {
    fn code(&self) -> Code {
        match self.source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => codes::DISK_FULL,
            io::ErrorKind::ReadOnlyFilesystem => codes::READ_ONLY,
            io::ErrorKind::PermissionDenied => codes::DENIED,
            io::ErrorKind::NotADirectory => codes::NOT_A_DIRECTORY,
            io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => codes::NOT_A_FILE,
            _ if matches!(self.doing, "read" | "list" | "stat") => codes::READ,
            _ => codes::WRITE,
        }
    }
}
