//! A change to the machine as data: shown in a dry run, applied, tested without a machine.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{Disk, HostError, Kind, atomic, disk::parent};

/// What a file will hold; the content of a secret is never shown.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// May be shown to anybody who runs a dry run.
    Plain(Vec<u8>),
    /// A key, a token: never shown.
    Secret(Vec<u8>),
}

impl Content {
    /// The bytes themselves, for writing.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) | Self::Secret(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(bytes) => f.debug_tuple("Plain").field(&String::from_utf8_lossy(bytes)).finish(),
            Self::Secret(bytes) => write!(f, "Secret({} bytes)", bytes.len()),
        }
    }
}

/// One change to the machine's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The directory exists with this mode.
    Directory {
        /// Where.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
    },
    /// The file holds this content and has this mode.
    File {
        /// Where.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
        /// What it holds.
        content: Content,
    },
    /// The file is a copy of a file of this computer, which may be large.
    Copy {
        /// Where.
        path: PathBuf,
        /// Permission bits.
        mode: u32,
        /// The file that is copied.
        from: PathBuf,
    },
    /// The symbolic link points there.
    Link {
        /// Where.
        path: PathBuf,
        /// What it points to.
        target: PathBuf,
    },
    /// The file is gone.
    Remove {
        /// Where.
        path: PathBuf,
    },
}

impl Change {
    /// The path this change touches.
    pub fn path(&self) -> &Path {
        match self {
            Self::Directory { path, .. }
            | Self::File { path, .. }
            | Self::Copy { path, .. }
            | Self::Link { path, .. }
            | Self::Remove { path } => path,
        }
    }

    /// Refuses to replace or remove something of another kind, a link, a device, a directory: it was put there on
    /// purpose, and it could not be put back.
    pub fn refuse_special(&self, disk: &dyn Disk) -> Result<(), HostError> {
        let (doing, path, kind, complaint) = match self {
            Self::File { path, .. } | Self::Copy { path, .. } => {
                ("write", path, Kind::File, "it is not a regular file")
            }
            Self::Remove { path } => ("remove", path, Kind::File, "it is not a regular file"),
            Self::Link { path, .. } => ("write", path, Kind::Link, "it is not a symbolic link"),
            Self::Directory { .. } => return Ok(()),
        };
        if disk.meta(path)?.is_some_and(|meta| meta.kind != kind) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, complaint);
            return Err(HostError { doing, path: path.clone(), source });
        }
        Ok(())
    }

    /// Makes the change durable on the disk.
    pub fn apply(&self, disk: &dyn Disk) -> Result<(), HostError> {
        self.refuse_special(disk)?;
        match self {
            Self::Directory { path, mode } => {
                atomic::create_dir_all(disk, path, *mode)?;
                match disk.meta(path)? {
                    Some(meta) if meta.kind == Kind::Link => disk.list(path).map(drop),
                    Some(meta) if meta.mode != *mode => atomic::set_dir_mode(disk, path, *mode),
                    _ => Ok(()),
                }
            }
            Self::File { path, mode, content } => {
                atomic::create_dir_all(disk, &parent(path), 0o755)?;
                atomic::write_atomic(disk, path, content.bytes(), *mode)
            }
            Self::Copy { path, mode, from } => {
                atomic::create_dir_all(disk, &parent(path), 0o755)?;
                atomic::import_atomic(disk, path, from, *mode)
            }
            Self::Link { path, target } => {
                atomic::create_dir_all(disk, &parent(path), 0o755)?;
                atomic::link_atomic(disk, path, target)
            }
            Self::Remove { path } => atomic::remove_file(disk, path),
        }
    }

    /// The changes among `wanted` that the machine does not show yet. What a crash left beside a file counts as well,
    /// so that the next run cleans it up.
    pub fn missing(wanted: Vec<Self>, disk: &dyn Disk) -> Result<Vec<Self>, HostError> {
        let mut missing = Vec::new();
        for change in wanted {
            if !change.is_met(disk)? {
                missing.push(change);
            }
        }
        Ok(missing)
    }

    fn is_met(&self, disk: &dyn Disk) -> Result<bool, HostError> {
        Ok(match self {
            Self::Directory { path, mode } => match disk.meta(path)? {
                Some(meta) if meta.kind == Kind::Directory => meta.mode == *mode,
                // A link to a directory is the operator's choice, its mode too; what else it may be, `apply` reports.
                Some(meta) if meta.kind == Kind::Link => disk.list(path).is_ok(),
                _ => false,
            },
            Self::File { path, mode, content } => {
                let same = match disk.meta(path)? {
                    Some(meta) if meta.kind == Kind::File && meta.mode == *mode => disk.read(path)? == content.bytes(),
                    _ => false,
                };
                same && !disk.exists(&atomic::leftover(path))?
            }
            Self::Copy { path, mode, from } => {
                let same = match disk.meta(path)? {
                    Some(meta) if meta.kind == Kind::File && meta.mode == *mode => {
                        same_content(disk, path, from, meta.len)?
                    }
                    _ => false,
                };
                same && !disk.exists(&atomic::leftover(path))?
            }
            Self::Link { path, target } => {
                disk.read_link(path)?.as_ref() == Some(target) && !disk.exists(&atomic::leftover(path))?
            }
            Self::Remove { path } => !disk.exists(path)? && !disk.exists(&atomic::leftover(path))?,
        })
    }
}

/// Compares bit by bit: programs are large.
fn same_content(disk: &dyn Disk, path: &Path, from: &Path, len: u64) -> Result<bool, HostError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| HostError { doing: "read", path, source }
    };
    let mut source = File::open(from).map_err(failed(from))?;
    if source.metadata().map_err(failed(from))?.len() != len {
        return Ok(false);
    }
    let mut copy = disk.open(path)?;
    let (mut left, mut right) = (vec![0; 1 << 18], vec![0; 1 << 18]);
    loop {
        let count = source.read(&mut left).map_err(failed(from))?;
        if count == 0 {
            return Ok(true);
        }
        match copy.read_exact(&mut right[..count]) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            result => result.map_err(failed(path))?,
        }
        if left[..count] != right[..count] {
            return Ok(false);
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, mode } => write!(f, "create directory {} ({mode:04o})", path.display()),
            Self::File { path, mode, content } => {
                let secret = if matches!(content, Content::Secret(_)) { ", secret" } else { "" };
                write!(f, "write {} ({mode:04o}, {} bytes{secret})", path.display(), content.bytes().len())
            }
            Self::Copy { path, mode, .. } => write!(f, "copy {} ({mode:04o})", path.display()),
            Self::Link { path, target } => write!(f, "point {} to {}", path.display(), target.display()),
            Self::Remove { path } => write!(f, "remove {}", path.display()),
        }
    }
}
