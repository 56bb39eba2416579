//! A lock between processes, held by the kernel: it goes away with the process, however that ends.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{BundleError, Stop, error::failed};

const POLL: Duration = Duration::from_millis(100);

/// A lock that is held until it is dropped.
pub(crate) struct Lock {
    file: fs::File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of this file; `waiting` is called once if another process has it.
    pub(crate) fn take(path: &Path, stop: &Stop, waiting: impl FnOnce()) -> Result<Self, BundleError> {
        let mut waiting = Some(waiting);
        loop {
            stop.check()?;
            let file = fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
                .map_err(failed("write", path))?;
            match file.try_lock() {
                // Its holder may have removed the file meanwhile; then a newer one is the lock.
                Ok(()) if is_still(&file, path) => return Ok(Self { file, path: path.to_path_buf() }),
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) => {
                    if let Some(waiting) = waiting.take() {
                        waiting();
                    }
                    thread::sleep(POLL);
                }
                Err(fs::TryLockError::Error(error)) => return Err(failed("lock", path)(error)),
            }
        }
    }

    /// Releases the lock and removes its file, for locks in directories of the user.
    pub(crate) fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        self.file.unlock()
    }
}

fn is_still(file: &fs::File, path: &Path) -> bool {
    let identity = |meta: &fs::Metadata| (meta.dev(), meta.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(held), Ok(there)) if identity(&held) == identity(&there))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn one_at_a_time_even_when_the_file_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let lock = Lock::take(&path, &Stop::default(), || {}).unwrap();
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        lock.remove().unwrap();
                    }
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn waiting_can_be_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let _held = Lock::take(&path, &Stop::default(), || {}).unwrap();
        let stop = Stop::default();
        let asked = stop.clone();
        let refused = Lock::take(&path, &stop, move || asked.stop());
        assert!(matches!(refused, Err(BundleError::Stopped)));
    }
}
