//! The file system of this machine, or a directory that stands for one.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Mutex,
};

use super::{Disk, Kind, LockGuard, Meta};
use crate::HostError;

/// The real thing. With a root other than `/`, absolute paths are taken to lie below it.
pub struct RealDisk {
    root: PathBuf,
}

impl RealDisk {
    /// `root` is what the machine calls `/`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn at(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("/") {
            Ok(below) => self.root.join(below),
            Err(_) => path.to_path_buf(),
        }
    }
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HostError {
    move |source| HostError { doing, path: path.to_path_buf(), source }
}

impl Disk for RealDisk {
    fn read(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        fs::read(self.at(path)).map_err(failed("read", path))
    }

    fn meta(&self, path: &Path) -> Result<Option<Meta>, HostError> {
        let meta = match fs::symlink_metadata(self.at(path)) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("stat", path)(error)),
        };
        let kind = match meta.file_type() {
            t if t.is_file() => Kind::File,
            t if t.is_dir() => Kind::Directory,
            t if t.is_symlink() => Kind::Link,
            _ => Kind::Other,
        };
        Ok(Some(Meta { kind, mode: meta.mode() & 0o7777, len: meta.len() }))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, HostError> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.at(dir)).map_err(failed("list", dir))? {
            let entry = entry.map_err(failed("list", dir))?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    fn create(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), HostError> {
        let write = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(self.at(path))?;
            // The umask has narrowed the mode; what was asked for is what is made.
            file.set_permissions(fs::Permissions::from_mode(mode))?;
            file.write_all(content)
        };
        write().map_err(failed("write", path))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, HostError> {
        File::open(self.at(path)).map(|file| Box::new(file) as Box<dyn Read + Send>).map_err(failed("read", path))
    }

    fn import(&self, path: &Path, from: &Path, mode: u32) -> Result<(), HostError> {
        let mut source = File::open(from).map_err(failed("read", from))?;
        let mut copy = || {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(self.at(path))?;
            file.set_permissions(fs::Permissions::from_mode(mode))?;
            io::copy(&mut source, &mut file).map(drop)
        };
        copy().map_err(failed("write", path))
    }

    fn symlink(&self, path: &Path, target: &Path) -> Result<(), HostError> {
        std::os::unix::fs::symlink(target, self.at(path)).map_err(failed("write", path))
    }

    fn read_link(&self, path: &Path) -> Result<Option<PathBuf>, HostError> {
        match fs::read_link(self.at(path)) {
            Ok(target) => Ok(Some(target)),
            // The second is what the system says of something that is no link.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => Ok(None),
            Err(error) => Err(failed("read", path)(error)),
        }
    }

    fn sync_file(&self, path: &Path) -> Result<(), HostError> {
        File::open(self.at(path)).and_then(|file| file.sync_all()).map_err(failed("sync", path))
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), HostError> {
        File::open(self.at(dir)).and_then(|file| file.sync_all()).map_err(failed("sync", dir))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        fs::rename(self.at(from), self.at(to)).map_err(failed("write", to))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        fs::hard_link(self.at(from), self.at(to)).map_err(failed("write", to))
    }

    fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        fs::remove_file(self.at(path)).map_err(failed("remove", path))
    }

    fn create_dir(&self, dir: &Path, mode: u32) -> Result<(), HostError> {
        let at = self.at(dir);
        DirBuilder::new()
            .mode(mode)
            .create(&at)
            .and_then(|()| fs::set_permissions(&at, fs::Permissions::from_mode(mode)))
            .map_err(failed("create directory", dir))
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), HostError> {
        fs::remove_dir(self.at(dir)).map_err(failed("remove directory", dir))
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), HostError> {
        fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).map_err(failed("change the mode of", path))
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, HostError> {
        // Not truncated on opening: the note of the process that holds the lock must stay readable.
        let open =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(self.at(path));
        let file = open.map_err(failed("lock", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(FileLock { file: Mutex::new(file), path: path.to_path_buf() }))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed("lock", path)(error)),
        }
    }
}

/// Released by the kernel when the file is closed, also when the process is killed.
struct FileLock {
    file: Mutex<File>,
    path: PathBuf,
}

impl LockGuard for FileLock {
    fn note(&self, text: &str) -> Result<(), HostError> {
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut write = || {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(text.as_bytes())
        };
        write().map_err(failed("write", &self.path))
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing does not release it while a child that is just being started holds a copy of the descriptor. If this
        // fails, closing it is all that is left.
        let _ = self.file.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner).unlock();
    }
}
