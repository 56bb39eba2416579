//! Files and directories, one system call per method.
//!
//! The methods are as small as the promises a file system makes: what is not synced may be lost or reordered by a
//! power cut. Code that needs a durable change uses [`crate::write_atomic`]; the order of calls in there is proved
//! against [`model::ModelDisk`], which keeps only what was promised.

pub mod model;
mod real;

use std::{
    io::Read,
    path::{Path, PathBuf},
};

pub use real::RealDisk;

use crate::HostError;

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a socket.
    Other,
}

/// What is known of a path without opening it. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Size in bytes.
    pub len: u64,
}

/// Files and directories. Paths are absolute, as on the machine itself.
pub trait Disk: Send + Sync {
    /// The content of a file.
    fn read(&self, path: &Path) -> Result<Vec<u8>, HostError>;

    /// What stands at a path; `None` if nothing does.
    fn meta(&self, path: &Path) -> Result<Option<Meta>, HostError>;

    /// The names in a directory, sorted.
    fn list(&self, dir: &Path) -> Result<Vec<String>, HostError>;

    /// Creates a file, which must not exist, with this content. Not durable before [`Disk::sync_file`], and its name not
    /// before [`Disk::sync_dir`].
    fn create(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), HostError>;

    /// Reads a file bit by bit, for those too large to hold.
    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, HostError>;

    /// Like [`Disk::create`], with the content of a file of this computer, which may be large.
    fn import(&self, path: &Path, from: &Path, mode: u32) -> Result<(), HostError>;

    /// Creates a symbolic link, which must not exist.
    fn symlink(&self, path: &Path, target: &Path) -> Result<(), HostError>;

    /// Where a symbolic link points; `None` if the path is no link.
    fn read_link(&self, path: &Path) -> Result<Option<PathBuf>, HostError>;

    /// Makes a file's content durable.
    fn sync_file(&self, path: &Path) -> Result<(), HostError>;

    /// Makes a directory's entries durable.
    fn sync_dir(&self, dir: &Path) -> Result<(), HostError>;

    /// Moves a file over another one, atomically.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError>;

    /// Gives a file a second name, which must not exist.
    fn hard_link(&self, from: &Path, to: &Path) -> Result<(), HostError>;

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> Result<(), HostError>;

    /// Creates one directory with exactly this mode.
    fn create_dir(&self, dir: &Path, mode: u32) -> Result<(), HostError>;

    /// Removes an empty directory.
    fn remove_dir(&self, dir: &Path) -> Result<(), HostError>;

    /// Sets the permission bits.
    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), HostError>;

    /// An exclusive lock on a file, created if need be and held until the guard is dropped or the process dies.
    /// `None` if another process holds it.
    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, HostError>;

    /// True if the path exists.
    fn exists(&self, path: &Path) -> Result<bool, HostError> {
        Ok(self.meta(path)?.is_some())
    }

    /// The content of a file; `None` if there is no such file.
    fn read_optional(&self, path: &Path) -> Result<Option<Vec<u8>>, HostError> {
        match self.read(path) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A lock that is held. Its file can carry a note on who holds it.
pub trait LockGuard: Send + Sync {
    /// Replaces the note in the lock's file.
    fn note(&self, text: &str) -> Result<(), HostError>;
}

pub(crate) fn parent(path: &Path) -> PathBuf {
    path.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf)
}
