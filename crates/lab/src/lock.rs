//! One command at a time makes, boots or removes a lab.
//!
//! A lock is the kernel's, on a directory that is there anyway: it leaves no file, and goes away with its holder however
//! that ends.
//!
//! - on the directory of all labs, for a moment: choosing a network, creating or removing a lab's directory;
//! - on a lab's own directory, as long as `up` or `destroy` works on it; a second one is refused;
//! - on the directory of base images, while one is made.

use std::{
    fs::{self, DirBuilder, File, TryLockError},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::LabError;

/// How long a holder that was just asked to end may take.
const GRACE: Duration = Duration::from_secs(2);

/// A directory that is ours until this is dropped.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "closing it releases the lock")] File);

impl Lock {
    /// Waits for the directory of all labs; makes it if it is not there.
    pub(crate) fn of_all_labs(dir: &Path) -> Result<Self, LabError> {
        loop {
            let file = open(dir, 0o755)?;
            file.lock().map_err(failed(dir))?;
            if is_still_there(&file, dir) {
                return Ok(Self(file));
            }
        }
    }

    /// Takes a directory if no other process has it; makes it if it is not there. What labs and images hold are other
    /// people's secrets and programs with the rights of root: only root may look into it.
    pub(crate) fn try_take(dir: &Path) -> Result<Option<Self>, LabError> {
        let file = open(dir, 0o700)?;
        match file.try_lock() {
            Ok(()) => Ok(is_still_there(&file, dir).then_some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(dir)(error)),
        }
    }

    /// Takes the directory of a lab, unless another process works on that lab.
    pub(crate) fn of_lab(name: &str, dir: &Path) -> Result<Self, LabError> {
        let deadline = Instant::now() + GRACE;
        loop {
            if let Some(lock) = Self::try_take(dir)? {
                return Ok(lock);
            }
            if Instant::now() > deadline {
                return Err(LabError::Busy(name.to_owned()));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

fn open(dir: &Path, mode: u32) -> Result<File, LabError> {
    if let Some(above) = dir.parent() {
        fs::create_dir_all(above).map_err(failed(above))?;
    }
    match DirBuilder::new().mode(mode).create(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(failed(dir)(error)),
        _ => File::open(dir).map_err(failed(dir)),
    }
}

/// The process that had it before may have removed it.
fn is_still_there(file: &File, dir: &Path) -> bool {
    match (file.metadata(), fs::metadata(dir)) {
        (Ok(held), Ok(there)) => held.ino() == there.ino() && held.dev() == there.dev(),
        _ => false,
    }
}

fn failed(dir: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    LabError::while_doing(format!("lock {}", dir.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_by_one_and_free_when_dropped() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("labs/one");
        let held = Lock::of_all_labs(&dir).unwrap();
        assert!(Lock::try_take(&dir).unwrap().is_none());
        assert!(matches!(Lock::of_lab("one", &dir), Err(LabError::Busy(name)) if name == "one"));
        drop(held);
        assert!(Lock::try_take(&dir).unwrap().is_some());
    }

    #[test]
    fn a_process_that_waits_for_a_directory_that_is_removed_gets_the_new_one() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("labs");
        let held = Lock::of_all_labs(&dir).unwrap();
        let waiting = thread::spawn({
            let dir = dir.clone();
            move || Lock::of_all_labs(&dir).unwrap()
        });
        fs::remove_dir(&dir).unwrap();
        drop(held);
        let _got = waiting.join().unwrap();
        assert!(Lock::try_take(&dir).unwrap().is_none(), "what was waited for is the directory that is there");
    }
}
