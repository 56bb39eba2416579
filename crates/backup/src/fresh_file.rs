//! A large file that is there as a whole or not at all, and overwrites nothing.
//!
//! It is written under a hidden name beside its own, synced, and renamed: a reader that finds it under its own name finds all of
//! it, also after a power cut. One that is not [`finish`](FreshFile::finish)ed is removed.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::BackupError;

const MODE: u32 = 0o600;
const ENDING: &str = ".blackstart-new";

/// A file on its way.
#[derive(Debug)]
pub struct FreshFile {
    file: BufWriter<File>,
    hidden: Hidden,
    path: PathBuf,
}

/// Removed when it is dropped.
#[derive(Debug)]
struct Hidden(PathBuf);

impl Drop for Hidden {
    fn drop(&mut self) {
        // It is gone if it has got its name; else there is no caller left to return it to.
        let _ = fs::remove_file(&self.0);
    }
}

impl FreshFile {
    /// A new file that will have this name.
    pub fn create(path: &Path) -> Result<Self, BackupError> {
        if path.symlink_metadata().is_ok() {
            return Err(BackupError::Taken(path.to_path_buf()));
        }
        let hidden = hidden(path);
        let write = || {
            match fs::remove_file(&hidden) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {} // none, or the leftover of a crash
            }
            OpenOptions::new().write(true).create_new(true).mode(MODE).open(&hidden)
        };
        let file = BufWriter::new(write().map_err(BackupError::writing(path))?);
        Ok(Self { file, hidden: Hidden(hidden), path: path.to_path_buf() })
    }

    /// Where it is until it has its name.
    pub(crate) fn hidden(&self) -> &Path {
        &self.hidden.0
    }

    /// Makes what was written durable, still under the hidden name.
    pub(crate) fn sync(&mut self) -> Result<(), BackupError> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        synced.map_err(BackupError::writing(&self.path))
    }

    /// Gives it its name, for good.
    pub fn finish(mut self) -> Result<(), BackupError> {
        self.sync()?;
        let dir = self.path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let named = fs::rename(&self.hidden.0, &self.path).and_then(|()| File::open(dir)?.sync_all());
        named.map_err(BackupError::writing(&self.path))
    }
}

impl Write for FreshFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn hidden(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(ENDING);
    path.with_file_name(name)
}

/// Whether a file of this name was left by a crash.
pub(crate) fn is_leftover(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(ENDING)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use explain::Explain;

    use super::*;
    use crate::codes;

    fn names(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn it_is_there_as_a_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.age");
        let mut file = FreshFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(is_leftover(&names(dir.path()).concat()), "it has another name until it is whole");
        drop(file);
        assert_eq!(names(dir.path()), Vec::<String>::new());

        fs::write(hidden(&path), "left by a crash").unwrap();
        let mut file = FreshFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        file.finish().unwrap();
        assert_eq!(names(dir.path()), ["x.age"]);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn it_overwrites_nothing_and_says_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.age");
        fs::write(&path, "old").unwrap();
        assert_eq!(FreshFile::create(&path).unwrap_err().code(), codes::TAKEN);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let nowhere = FreshFile::create(&dir.path().join("no/x.age")).unwrap_err();
        assert_eq!(nowhere.code(), host::codes::WRITE);
        assert!(nowhere.to_string().contains("no/x.age"), "{nowhere}");
    }
}
