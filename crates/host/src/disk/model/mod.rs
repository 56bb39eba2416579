//! A disk in memory that keeps only what a file system promises.
//!
//! Killing a process loses nothing that was written: the page cache survives. A power cut does. After [`ModelDisk::crash`]
//!
//! - a file that was not synced since it was written holds what it held at the last sync, or a beginning of the new
//!   content, or nothing;
//! - permission bits that were changed and not synced are the old or the new ones;
//! - each name in a directory that was not synced since shows any of the things it has stood for since then, each name
//!   on its own: a later rename may have reached the disk and an earlier one not.
//!
//! That is harsher than any file system in use. `choose(n)` picks one of `n` outcomes, so that a test can draw at
//! random; [`ModelDisk::every_crash`] goes through all of them. [`ModelDisk::restart`] is the kill without the power
//! cut. With [`ModelDisk::cut_after`] the power goes at a given operation, and with [`ModelDisk::fill_after`] the disk
//! is full from there on.

mod crash;
mod lock;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lock::ModelLock;

use super::{Disk, Kind, LockGuard, Meta, parent};
use crate::HostError;

/// The disk. Clones are the same disk.
#[derive(Clone, Default)]
pub struct ModelDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Clone)]
struct State {
    files: Vec<FileNode>,
    dirs: BTreeMap<PathBuf, DirNode>,
    locked: BTreeSet<PathBuf>,
    operations: usize,
    cut_after: Option<usize>,
    full_after: Option<usize>,
}

#[derive(Clone)]
struct FileNode {
    content: Vec<u8>,
    /// What the disk holds for sure.
    durable: Vec<u8>,
    synced: bool,
    mode: u32,
    durable_mode: u32,
    /// The content is where a symbolic link points.
    link: bool,
}

#[derive(Clone)]
struct DirNode {
    mode: u32,
    durable_mode: u32,
    entries: BTreeMap<String, Entry>,
    /// For each name touched since the last sync, everything it stood for since then, the durable one first.
    unsynced: BTreeMap<String, Vec<Option<Entry>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    File(usize),
    Dir,
}

impl DirNode {
    fn empty(mode: u32) -> Self {
        Self { mode, durable_mode: mode, entries: BTreeMap::new(), unsynced: BTreeMap::new() }
    }
}

impl Default for State {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            dirs: BTreeMap::from([(PathBuf::from("/"), DirNode::empty(0o755))]),
            locked: BTreeSet::new(),
            operations: 0,
            cut_after: None,
            full_after: None,
        }
    }
}

impl ModelDisk {
    /// Operations done so far, reads included.
    pub fn operations(&self) -> usize {
        self.lock().operations
    }

    /// The power goes after this many more operations: every later one fails and changes nothing.
    pub fn cut_after(&self, operations: usize) {
        let mut state = self.lock();
        state.cut_after = Some(state.operations + operations);
    }

    /// After this many more operations nothing can be created any more.
    pub fn fill_after(&self, operations: usize) {
        let mut state = self.lock();
        state.full_after = Some(state.operations + operations);
    }

    /// From now on nothing can be created (or, with `false`, again).
    pub fn fill(&self, full: bool) {
        self.lock().full_after = full.then_some(0);
    }

    /// Every file below a directory with its content, for comparing disks.
    pub fn files_below(&self, dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let state = self.lock();
        let mut files = BTreeMap::new();
        for (path, node) in state.dirs.iter().filter(|(path, _)| path.starts_with(dir)) {
            for (name, entry) in &node.entries {
                if let Entry::File(file) = entry {
                    files.insert(path.join(name), state.files[*file].content.clone());
                }
            }
        }
        files
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation and refuses it when the power is gone.
    fn operate(&self, doing: &'static str, path: &Path) -> Result<Guarded<'_>, HostError> {
        let mut state = self.lock();
        let failed = Failed { doing, path: path.to_path_buf() };
        if state.cut_after.is_some_and(|limit| state.operations >= limit) {
            return Err(failed.with(io::Error::other("the power is gone")));
        }
        state.operations += 1;
        Ok(Guarded { state, failed })
    }
}

struct Failed {
    doing: &'static str,
    path: PathBuf,
}

impl Failed {
    fn with(&self, source: io::Error) -> HostError {
        HostError { doing: self.doing, path: self.path.clone(), source }
    }
}

struct Guarded<'a> {
    state: MutexGuard<'a, State>,
    failed: Failed,
}

impl Guarded<'_> {
    fn fail<T>(&self, kind: io::ErrorKind) -> Result<T, HostError> {
        Err(self.failed.with(kind.into()))
    }

    fn entry(&self, path: &Path) -> Option<Entry> {
        if path == Path::new("/") {
            return Some(Entry::Dir);
        }
        self.state.dirs.get(&parent(path))?.entries.get(&name(path)).copied()
    }

    fn file(&self, path: &Path) -> Result<usize, HostError> {
        match self.entry(path) {
            Some(Entry::File(file)) => Ok(file),
            Some(Entry::Dir) => self.fail(io::ErrorKind::IsADirectory),
            None => self.fail(io::ErrorKind::NotFound),
        }
    }

    /// Points a name at something else, remembering what it stood for.
    fn point(&mut self, path: &Path, entry: Option<Entry>) -> Result<(), HostError> {
        let failed = self.failed.with(io::ErrorKind::NotFound.into());
        let Some(dir) = self.state.dirs.get_mut(&parent(path)) else { return Err(failed) };
        let name = name(path);
        let before = dir.entries.get(&name).copied();
        dir.unsynced.entry(name.clone()).or_insert_with(|| vec![before]).push(entry);
        match entry {
            Some(entry) => dir.entries.insert(name, entry),
            None => dir.entries.remove(&name),
        };
        Ok(())
    }

    fn refuse_existing(&self, path: &Path) -> Result<(), HostError> {
        if self.entry(path).is_some() { self.fail(io::ErrorKind::AlreadyExists) } else { Ok(()) }
    }

    fn refuse_if_full(&self) -> Result<(), HostError> {
        let full = self.state.full_after.is_some_and(|limit| self.state.operations > limit);
        if full { self.fail(io::ErrorKind::StorageFull) } else { Ok(()) }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Disk for ModelDisk {
    fn read(&self, path: &Path) -> Result<Vec<u8>, HostError> {
        let disk = self.operate("read", path)?;
        Ok(disk.state.files[disk.file(path)?].content.clone())
    }

    fn meta(&self, path: &Path) -> Result<Option<Meta>, HostError> {
        let disk = self.operate("stat", path)?;
        Ok(disk.entry(path).map(|entry| match entry {
            Entry::File(file) => {
                let file = &disk.state.files[file];
                Meta {
                    kind: if file.link { Kind::Link } else { Kind::File },
                    mode: file.mode,
                    len: file.content.len() as u64,
                }
            }
            Entry::Dir => {
                Meta { kind: Kind::Directory, mode: disk.state.dirs.get(path).map_or(0, |dir| dir.mode), len: 0 }
            }
        }))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, HostError> {
        let disk = self.operate("list", dir)?;
        match disk.state.dirs.get(dir) {
            Some(node) => Ok(node.entries.keys().cloned().collect()),
            None => disk.fail(io::ErrorKind::NotFound),
        }
    }

    fn create(&self, path: &Path, content: &[u8], mode: u32) -> Result<(), HostError> {
        let mut disk = self.operate("write", path)?;
        disk.refuse_existing(path)?;
        // Space runs out while the file is being written: its beginning stays, as on a real disk.
        let fits = disk.refuse_if_full();
        let len = if fits.is_ok() { content.len() } else { content.len() / 2 };
        let content = content[..len].to_vec();
        disk.state.files.push(FileNode {
            content,
            durable: Vec::new(),
            synced: false,
            mode,
            durable_mode: mode,
            link: false,
        });
        let file = disk.state.files.len() - 1;
        disk.point(path, Some(Entry::File(file))).and(fits)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Read + Send>, HostError> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

    fn import(&self, path: &Path, from: &Path, mode: u32) -> Result<(), HostError> {
        let content = std::fs::read(from);
        let content = content.map_err(|source| HostError { doing: "read", path: from.to_path_buf(), source })?;
        self.create(path, &content, mode)
    }

    fn symlink(&self, path: &Path, target: &Path) -> Result<(), HostError> {
        let mut disk = self.operate("write", path)?;
        disk.refuse_existing(path)?;
        disk.refuse_if_full()?;
        let content = target.to_string_lossy().into_owned().into_bytes();
        // A link has no content of its own to sync: it is as durable as its name.
        let durable = content.clone();
        disk.state.files.push(FileNode {
            content,
            durable,
            synced: true,
            mode: 0o777,
            durable_mode: 0o777,
            link: true,
        });
        let file = disk.state.files.len() - 1;
        disk.point(path, Some(Entry::File(file)))
    }

    fn read_link(&self, path: &Path) -> Result<Option<PathBuf>, HostError> {
        let disk = self.operate("read", path)?;
        Ok(match disk.entry(path) {
            Some(Entry::File(file)) if disk.state.files[file].link => {
                Some(String::from_utf8_lossy(&disk.state.files[file].content).into_owned().into())
            }
            _ => None,
        })
    }

    fn sync_file(&self, path: &Path) -> Result<(), HostError> {
        let mut disk = self.operate("sync", path)?;
        let file = disk.file(path)?;
        let file = &mut disk.state.files[file];
        file.durable.clone_from(&file.content);
        file.durable_mode = file.mode;
        file.synced = true;
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), HostError> {
        let mut disk = self.operate("sync", dir)?;
        match disk.state.dirs.get_mut(dir) {
            Some(node) => {
                node.unsynced.clear();
                node.durable_mode = node.mode;
                Ok(())
            }
            None => disk.fail(io::ErrorKind::NotFound),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        let mut disk = self.operate("write", to)?;
        let file = disk.file(from)?;
        match disk.entry(to) {
            Some(Entry::Dir) => return disk.fail(io::ErrorKind::IsADirectory),
            // POSIX: with two names of one file nothing is done, and both stay.
            Some(Entry::File(other)) if other == file => return Ok(()),
            _ => {}
        }
        disk.point(to, Some(Entry::File(file)))?;
        disk.point(from, None)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        let mut disk = self.operate("write", to)?;
        let file = disk.file(from)?;
        disk.refuse_existing(to)?;
        disk.refuse_if_full()?;
        disk.point(to, Some(Entry::File(file)))
    }

    fn remove_file(&self, path: &Path) -> Result<(), HostError> {
        let mut disk = self.operate("remove", path)?;
        disk.file(path)?;
        disk.point(path, None)
    }

    fn create_dir(&self, dir: &Path, mode: u32) -> Result<(), HostError> {
        let mut disk = self.operate("create directory", dir)?;
        disk.refuse_existing(dir)?;
        disk.refuse_if_full()?;
        disk.point(dir, Some(Entry::Dir))?;
        disk.state.dirs.insert(dir.to_path_buf(), DirNode::empty(mode));
        Ok(())
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), HostError> {
        let mut disk = self.operate("remove directory", dir)?;
        match disk.state.dirs.get(dir) {
            None => disk.fail(io::ErrorKind::NotFound),
            Some(node) if !node.entries.is_empty() => disk.fail(io::ErrorKind::DirectoryNotEmpty),
            Some(_) => {
                disk.state.dirs.remove(dir);
                disk.point(dir, None)
            }
        }
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<(), HostError> {
        let mut disk = self.operate("change the mode of", path)?;
        match disk.entry(path) {
            None => return disk.fail(io::ErrorKind::NotFound),
            Some(Entry::File(file)) => disk.state.files[file].mode = mode,
            Some(Entry::Dir) => {
                if let Some(dir) = disk.state.dirs.get_mut(path) {
                    dir.mode = mode;
                }
            }
        }
        Ok(())
    }

    fn try_lock(&self, path: &Path) -> Result<Option<Box<dyn LockGuard>>, HostError> {
        let mut disk = self.operate("lock", path)?;
        if !disk.state.locked.insert(path.to_path_buf()) {
            return Ok(None);
        }
        Ok(Some(Box::new(ModelLock { disk: self.clone(), path: path.to_path_buf() })))
    }
}
