//! A directory or file that appears at its place whole, or not at all.
//!
//! It is made beside its target under a hidden name and renamed when it is complete. What a killed process left behind
//! is removed by the next one that works on the same target: the lock on it distinguishes a leftover from work in progress.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{BundleError, Stop, error::failed, lock::Lock, manifest::MANIFEST};

/// Something in the making. Dropped without [`commit`](Self::commit), it is removed.
pub(crate) struct Staged {
    path: PathBuf,
    target: PathBuf,
    lock: Option<Lock>,
}

impl Staged {
    /// Starts to make something that will appear at `target`; only one process at a time does.
    pub(crate) fn beside(target: &Path) -> Result<Self, BundleError> {
        let target = std::path::absolute(target).map_err(failed("stat", target))?;
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(failed("create directory", parent))?;
        }
        let lock = Lock::take(&hidden(&target, "lock"), &Stop::default(), || {})?;
        let staged = Self { path: hidden(&target, "new"), target, lock: Some(lock) };
        remove(&staged.path)?;
        remove(&hidden(&staged.target, "old"))?;
        Ok(staged)
    }

    /// The same for a directory, which is empty now.
    pub(crate) fn dir_beside(target: &Path) -> Result<Self, BundleError> {
        let staged = Self::beside(target)?;
        fs::create_dir(&staged.path).map_err(failed("create directory", &staged.path))?;
        Ok(staged)
    }

    /// Where it is made.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets it appear at its target, in place of an older bundle or file there.
    pub(crate) fn commit(self) -> Result<(), BundleError> {
        let old = hidden(&self.target, "old");
        // A directory cannot be renamed over one that is not empty; a kill between the two leaves no target, never half.
        if self.target.is_dir() {
            fs::rename(&self.target, &old).map_err(failed("rename", &self.target))?;
        }
        fs::rename(&self.path, &self.target).map_err(failed("rename", &self.path))?;
        remove(&old)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Best effort: whatever stays is removed by the next run. After a commit nothing is there.
        let _ = remove(&self.path);
        let _ = self.lock.take().map(Lock::remove);
    }
}

/// Refuses a target that holds something other than a bundle: it would be lost.
pub(crate) fn may_be_replaced(target: &Path) -> Result<(), BundleError> {
    let taken = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_some() && !target.join(MANIFEST).is_file(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => true,
        Err(error) => return Err(failed("list", target)(error)),
    };
    if taken { Err(BundleError::Target { path: target.to_path_buf() }) } else { Ok(()) }
}

/// Removes a file or a directory with everything in it, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), BundleError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => remove_dir(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

/// A compiler that outlived a killed run may add a file meanwhile; it fails when its directory is gone.
fn remove_dir(path: &Path) -> io::Result<()> {
    const TRIES: u32 = 100;
    const PAUSE: Duration = Duration::from_millis(50);
    for _ in 1..TRIES {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => thread::sleep(PAUSE),
            ended => return ended,
        }
    }
    fs::remove_dir_all(path)
}

fn hidden(target: &Path, what: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(".blackstart-");
    name.push(what);
    target.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// What a compiler does whose run was killed.
    #[test]
    fn a_directory_goes_while_something_is_still_written_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        for _ in 0..20 {
            fs::create_dir(&work).unwrap();
            let is_over = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    for number in 0_u64.. {
                        let is_gone = fs::write(work.join(number.to_string()), "object").is_err();
                        if is_gone || is_over.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
                let removed = remove(&work);
                is_over.store(true, Ordering::Relaxed);
                removed.unwrap();
            });
            assert!(!work.exists());
        }
    }
}
