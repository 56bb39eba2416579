//! A disk that kills the process which uses it.

use std::{
    io::Read,
    path::{Path, PathBuf},
    str::FromStr,
    sync::atomic::{AtomicUsize, Ordering},
};

use host::{Disk, HostError, Meta, RealDisk, disk::LockGuard};
use nix::sys::signal::{Signal, raise};

/// When to kill: right before or right after an operation, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strike {
    Before(usize),
    After(usize),
}

impl FromStr for Strike {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(when, number)| Some((when, number.parse().ok()?)));
        match parsed {
            Some(("before", number)) => Ok(Self::Before(number)),
            Some(("after", number)) => Ok(Self::After(number)),
            _ => Err(format!("`{text}` is neither before:N nor after:N")),
        }
    }
}

/// A real disk that counts every operation, reads included.
pub(crate) struct DeadlyDisk {
    disk: RealDisk,
    strike: Option<Strike>,
    operations: AtomicUsize,
}

impl DeadlyDisk {
    pub(crate) fn new(root: &Path, strike: Option<Strike>) -> Self {
        Self { disk: RealDisk::new(root), strike, operations: AtomicUsize::new(0) }
    }

    pub(crate) fn operations(&self) -> usize {
        self.operations.load(Ordering::Relaxed)
    }

    fn operate<T>(&self, operation: impl FnOnce(&RealDisk) -> Result<T, HostError>) -> Result<T, HostError> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed) + 1;
        self.die_if(Strike::Before(number));
        let result = operation(&self.disk);
        self.die_if(Strike::After(number));
        result
    }

    fn die_if(&self, strike: Strike) {
        if self.strike == Some(strike) {
            // If this failed, the test would see a process that was not killed.
            let _ = raise(Signal::SIGKILL);
        }
    }
}

impl Disk for DeadlyDisk {
    fn read(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        self.operate(|disk| disk.read(path))
    }

    fn meta(&self, path: &Path) -> Result<Option<Meta>, HostError> {
        self.operate(|disk| disk.meta(path))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, HostError> {
        self.operate(|disk| disk.list(dir))
    }

    fn create(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), HostError> {
        self.operate(|disk| disk.create(path, content, mode))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, HostError> {
        self.operate(|disk| disk.open(path))
    }

    fn import(&self, path: &Path, from: &Path, mode: u32) -> Result<(), HostError> {
        self.operate(|disk| disk.import(path, from, mode))
    }

    fn symlink(&self, path: &Path, target: &Path) -> Result<(), HostError> {
        self.operate(|disk| disk.symlink(path, target))
    }

    fn read_link(&self, path: &Path) -> Result<Option<PathBuf>, HostError> {
        self.operate(|disk| disk.read_link(path))
    }

    fn sync_file(&self, path: &Path) -> Result<(), HostError> {
        self.operate(|disk| disk.sync_file(path))
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), HostError> {
        self.operate(|disk| disk.sync_dir(dir))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        self.operate(|disk| disk.rename(from, to))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        self.operate(|disk| disk.hard_link(from, to))
    }

    fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        self.operate(|disk| disk.remove_file(path))
    }

    fn create_dir(&self, dir: &Path, mode: u32) -> Result<(), HostError> {
        self.operate(|disk| disk.create_dir(dir, mode))
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), HostError> {
        self.operate(|disk| disk.remove_dir(dir))
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), HostError> {
        self.operate(|disk| disk.set_mode(path, mode))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, HostError> {
        self.operate(|disk| disk.try_lock(path))
    }
}
