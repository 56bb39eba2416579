//! How to take a change back: found out before the change is made, kept in the ledger, used by reset.
//!
//! A file that stood where we write is copied to `originals/` in the state directory first. What we made is removed,
//! what we replaced is restored; directories go only when nothing else has come to live in them.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};

use host::{Change, Content, Disk, HostError, Kind, remove_dir_if_empty, remove_file, set_dir_mode};
use serde::{Deserialize, Serialize};

use crate::Planned;

/// One thing to undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoEntry {
    /// The file did not exist.
    RemoveFile(PathBuf),
    /// The directory did not exist.
    RemoveDirectory(PathBuf),
    /// The file existed; its content is kept.
    Restore {
        /// Where it stood.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// Where its content is kept.
        original: PathBuf,
    },
    /// The symbolic link did not exist.
    RemoveLink(PathBuf),
    /// The symbolic link pointed somewhere else.
    RestoreLink {
        /// Where it stood.
        path: PathBuf,
        /// What it pointed to.
        target: PathBuf,
    },
    /// The directory existed with other permission bits.
    RestoreMode {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The step knows how.
    Act {
        /// The step's own name for it.
        key: String,
    },
}

impl UndoEntry {
    /// What this is about; a step needs one entry per target, the first one.
    pub(crate) fn target(&self) -> (&'static str, &Path) {
        match self {
            Self::RemoveFile(path) | Self::Restore { path, .. } => ("file", path),
            Self::RemoveLink(path) | Self::RestoreLink { path, .. } => ("link", path),
            Self::RemoveDirectory(path) | Self::RestoreMode { path, .. } => ("directory", path),
            Self::Act { key } => ("act", Path::new(key)),
        }
    }

    /// How to undo what is planned, given the machine as it is now. What could not be put back is refused here, before
    /// anything is recorded.
    pub(crate) fn before(planned: &Planned, disk: &dyn Disk, originals: &Path) -> Result<Vec<Self>, HostError> {
        match planned {
            Planned::Act(act) | Planned::Fetch(act, _) | Planned::Claim(act) => {
                Ok(vec![Self::Act { key: act.key.clone() }])
            }
            Planned::File(change) => Self::before_file(change, disk, originals),
        }
    }

    fn before_file(change: &Change, disk: &dyn Disk, originals: &Path) -> Result<Vec<Self>, HostError> {
        change.refuse_special(disk)?;
        match change {
            Change::Directory { path, mode } => match disk.meta(path)? {
                Some(meta) if meta.kind == Kind::Directory && meta.mode != *mode => {
                    Ok(vec![Self::RestoreMode { path: path.clone(), mode: meta.mode }])
                }
                Some(_) => Ok(Vec::new()),
                None => missing_directories(path, disk),
            },
            Change::Link { path, .. } => match disk.read_link(path)? {
                Some(target) => Ok(vec![Self::RestoreLink { path: path.clone(), target }]),
                None => with_missing_directories(path, Self::RemoveLink(path.clone()), disk),
            },
            Change::File { path, .. } | Change::Copy { path, .. } | Change::Remove { path } => match disk.meta(path)? {
                Some(meta) => {
                    let original = originals.join(original_name(path));
                    Ok(vec![Self::Restore { path: path.clone(), mode: meta.mode, original }])
                }
                None if matches!(change, Change::Remove { .. }) => Ok(Vec::new()),
                None => with_missing_directories(path, Self::RemoveFile(path.clone()), disk),
            },
        }
    }

    /// Puts aside what a `Restore` will need. Comes before the ledger's entry, which promises that it is there.
    pub(crate) fn keep_original(&self, disk: &dyn Disk) -> Result<(), HostError> {
        if let Self::Restore { path, original, .. } = self {
            let content = Content::Secret(disk.read(path)?);
            if let Some(dir) = original.parent() {
                Change::Directory { path: dir.to_path_buf(), mode: 0o700 }.apply(disk)?;
            }
            Change::File { path: original.clone(), mode: 0o600, content }.apply(disk)?;
        }
        Ok(())
    }

    /// Where the original of a `Restore` is kept.
    pub(crate) fn original(&self) -> Option<&Path> {
        match self {
            Self::Restore { original, .. } => Some(original),
            _ => None,
        }
    }

    /// Takes it back on the disk. Doing it twice does no harm. `Act` is the step's own and does nothing here.
    pub(crate) fn undo(&self, disk: &dyn Disk) -> Result<(), HostError> {
        match self {
            Self::RemoveFile(path) => Change::Remove { path: path.clone() }.apply(disk),
            Self::RemoveDirectory(path) => remove_dir_if_empty(disk, path),
            Self::RemoveLink(path) => match disk.meta(path)? {
                Some(meta) if meta.kind != Kind::Link => Ok(()), // not ours any more
                _ => remove_file(disk, path),
            },
            Self::RestoreLink { path, target } => {
                Change::Link { path: path.clone(), target: target.clone() }.apply(disk)
            }
            Self::Restore { path, mode, original } => {
                let content = Content::Secret(disk.read(original)?);
                Change::File { path: path.clone(), mode: *mode, content }.apply(disk)
            }
            Self::RestoreMode { path, mode } => match disk.meta(path)? {
                Some(_) => set_dir_mode(disk, path, *mode),
                None => Ok(()),
            },
            Self::Act { .. } => Ok(()),
        }
    }
}

impl fmt::Display for UndoEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RemoveFile(path) => write!(f, "remove {}", path.display()),
            Self::RemoveDirectory(path) => write!(f, "remove directory {} if it is empty", path.display()),
            Self::Restore { path, .. } => write!(f, "restore {}", path.display()),
            Self::RemoveLink(path) => write!(f, "remove link {}", path.display()),
            Self::RestoreLink { path, target } => write!(f, "point {} back to {}", path.display(), target.display()),
            Self::RestoreMode { path, mode } => write!(f, "restore the mode of {} ({mode:04o})", path.display()),
            Self::Act { key } => write!(f, "undo {key}"),
        }
    }
}

fn with_missing_directories(path: &Path, last: UndoEntry, disk: &dyn Disk) -> Result<Vec<UndoEntry>, HostError> {
    let mut undo = match path.parent() {
        Some(dir) => missing_directories(dir, disk)?,
        None => Vec::new(),
    };
    undo.push(last);
    Ok(undo)
}

fn missing_directories(dir: &Path, disk: &dyn Disk) -> Result<Vec<UndoEntry>, HostError> {
    let mut missing = Vec::new();
    for above in dir.ancestors() {
        if disk.exists(above)? {
            break;
        }
        missing.push(UndoEntry::RemoveDirectory(above.to_path_buf()));
    }
    missing.reverse();
    Ok(missing)
}

/// Removes the originals that no entry of the ledger needs any more. A crash may leave some of them; that is why they
/// are looked for here and not dropped one by one.
pub(crate) fn sweep_originals(dir: &Path, needed: &BTreeSet<PathBuf>, disk: &dyn Disk) -> Result<(), HostError> {
    if !disk.exists(dir)? {
        return Ok(());
    }
    for name in disk.list(dir)? {
        let path = dir.join(name);
        match disk.meta(&path)? {
            Some(meta) if meta.kind == Kind::Directory => sweep_originals(&path, needed, disk)?,
            Some(_) if !needed.contains(&path) => remove_file(disk, &path)?,
            _ => {}
        }
    }
    remove_dir_if_empty(disk, dir)
}

/// One flat name per path: readable, and different for different paths.
fn original_name(path: &Path) -> String {
    let text = path.to_string_lossy();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{:08x}-{name}", crc32fast::hash(text.as_bytes()))
}
