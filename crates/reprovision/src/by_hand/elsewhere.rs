//! A disk on which one directory is another.

use std::{
    borrow::Cow,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use host::{Disk, HostError, Meta, disk::LockGuard};

/// A disk on which one directory, with all below it, is another.
pub(super) struct Elsewhere {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
}

impl Elsewhere {
    fn at<'a>(&self, path: &'a Path) -> Cow<'a, Path> {
        match path.strip_prefix(&self.from) {
            // No slash behind a directory's own name.
            Ok(below) if below.as_os_str().is_empty() => Cow::Owned(self.to.clone()),
            Ok(below) => Cow::Owned(self.to.join(below)),
            Err(_) => Cow::Borrowed(path),
        }
    }
}

impl Disk for Elsewhere {
    fn read(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        self.disk.read(&self.at(path))
    }

    fn meta(&self, path: &Path) -> Result<Option<Meta>, HostError> {
        self.disk.meta(&self.at(path))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, HostError> {
        self.disk.list(&self.at(dir))
    }

    fn create(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), HostError> {
        self.disk.create(&self.at(path), content, mode)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, HostError> {
        self.disk.open(&self.at(path))
    }

    fn import(&self, path: &Path, from: &Path, mode: u32) -> Result<(), HostError> {
        self.disk.import(&self.at(path), from, mode)
    }

    fn symlink(&self, path: &Path, target: &Path) -> Result<(), HostError> {
        self.disk.symlink(&self.at(path), target)
    }

    fn read_link(&self, path: &Path) -> Result<Option<PathBuf>, HostError> {
        self.disk.read_link(&self.at(path))
    }

    fn sync_file(&self, path: &Path) -> Result<(), HostError> {
        self.disk.sync_file(&self.at(path))
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), HostError> {
        self.disk.sync_dir(&self.at(dir))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        self.disk.rename(&self.at(from), &self.at(to))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        self.disk.hard_link(&self.at(from), &self.at(to))
    }

    fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        self.disk.remove_file(&self.at(path))
    }

    fn create_dir(&self, dir: &Path, mode: u32) -> Result<(), HostError> {
        self.disk.create_dir(&self.at(dir), mode)
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), HostError> {
        self.disk.remove_dir(&self.at(dir))
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), HostError> {
        self.disk.set_mode(&self.at(path), mode)
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, HostError> {
        self.disk.try_lock(&self.at(path))
    }
}

#[cfg(test)]
mod tests {
    use host::RealDisk;

    use super::*;

    #[test]
    fn only_what_is_below_is_elsewhere() {
        let disk = Elsewhere { disk: Arc::new(RealDisk::new("/")), from: "/var/lib/a".into(), to: "/var/tmp/b".into() };
        for (path, expected) in [
            ("/var/lib/a", "/var/tmp/b"),
            ("/var/lib/a/payload/raw", "/var/tmp/b/payload/raw"),
            ("/var/lib/ab", "/var/lib/ab"),
            ("/var/lib", "/var/lib"),
        ] {
            assert_eq!(disk.at(Path::new(path)).as_os_str(), expected);
        }
    }
}
