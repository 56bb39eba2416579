//! Why there is no archive.

use std::{io, path::PathBuf};

use explain::{Code, Explain};
use host::HostError;

use crate::codes;

/// Why there is no archive.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// It could not be put together.
    #[error("cannot pack the archive")]
    Packing(#[source] io::Error),
    /// It could not be written.
    #[error("cannot write the archive")]
    Writing(#[source] HostError),
    /// It could not be made sure that no secret is in it.
    #[error("cannot scan for secrets: {0}")]
    NotClean(String),
    /// There is such a file.
    #[error("{0} exists")]
    Taken(PathBuf),
}

impl Explain for GatherError {
    fn code(&self) -> Code {
        match self {
            Self::Packing(_) | Self::Writing(_) => codes::NOT_WRITTEN,
            Self::NotClean(_) => codes::NOT_CLEAN,
            Self::Taken(_) => codes::TAKEN,
        }
    }
}
