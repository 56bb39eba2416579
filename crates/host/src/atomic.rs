//! Durable changes, made of small steps in the one order that survives a power cut.
//!
//! Write a new file beside the old one, sync it, rename it over the old one, sync the directory: at every instant the
//! path shows the whole old or the whole new content. A leftover `.name.blackstart-new` of a crash is removed by the
//! next write or removal of the same path.
//!
//! A process can be killed after a change and before its sync. So the next one does not take what it sees for durable:
//! it syncs also what it finds done.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{Disk, HostError, Kind, disk::parent};

/// Replaces a file's content; after the return it is durable, and before it the old content is whole.
pub fn write_atomic(disk: &dyn Disk, path: &Path, content: &[u8], mode: u32) -> Result<(), HostError> {
    replace(disk, path, |fresh| disk.create(fresh, content, mode).and_then(|()| disk.sync_file(fresh)))
}

/// The same with the content of a file of this computer.
pub(crate) fn import_atomic(disk: &dyn Disk, path: &Path, from: &Path, mode: u32) -> Result<(), HostError> {
    replace(disk, path, |fresh| disk.import(fresh, from, mode).and_then(|()| disk.sync_file(fresh)))
}

/// Points a symbolic link somewhere else, without a moment in which there is none.
pub(crate) fn link_atomic(disk: &dyn Disk, path: &Path, target: &Path) -> Result<(), HostError> {
    replace(disk, path, |fresh| disk.symlink(fresh, target))
}

fn replace(disk: &dyn Disk, path: &Path, make: impl FnOnce(&Path) -> Result<(), HostError>) -> Result<(), HostError> {
    let fresh = leftover(path);
    if disk.exists(&fresh)? {
        disk.remove_file(&fresh)?;
    }
    if let Err(error) = make(&fresh).and_then(|()| disk.rename(&fresh, path)) {
        // A full disk must not stay full because of us; the first error is the one worth reporting.
        let _ = disk.remove_file(&fresh);
        let path = if error.path == fresh { path.to_path_buf() } else { error.path };
        return Err(HostError { path, ..error });
    }
    disk.sync_dir(&parent(path))
}

/// Removes a file, if it is there, and what a crash while writing it may have left; after the return it stays away.
pub fn remove_file(disk: &dyn Disk, path: &Path) -> Result<(), HostError> {
    for path in [&leftover(path), path] {
        if disk.exists(path)? {
            disk.remove_file(path)?;
        }
    }
    sync_nearest(disk, &parent(path))
}

/// Creates a directory with this mode and what is missing above it, durably. Existing ones are left as they are. Those
/// above are for everybody: an image without `/etc` must not get a private one because of what lies in it.
pub fn create_dir_all(disk: &dyn Disk, dir: &Path, mode: u32) -> Result<(), HostError> {
    let above = parent(dir);
    match disk.meta(dir)? {
        // A link to a directory is the operator's choice; creating below it fails if it is broken.
        Some(meta) if matches!(meta.kind, Kind::Directory | Kind::Link) => return disk.sync_dir(&above),
        Some(_) => {
            let source = io::ErrorKind::NotADirectory.into();
            return Err(HostError { doing: "create directory", path: dir.to_path_buf(), source });
        }
        None => {}
    }
    if above != dir {
        create_dir_all(disk, &above, 0o755)?;
    }
    disk.create_dir(dir, mode)?;
    disk.sync_dir(&above)
}

/// Removes a directory if it is there and nothing lives in it; after the return it stays away.
pub fn remove_dir_if_empty(disk: &dyn Disk, dir: &Path) -> Result<(), HostError> {
    let empty_directory = match disk.meta(dir)? {
        Some(meta) => meta.kind == Kind::Directory && disk.list(dir)?.is_empty(),
        None => false,
    };
    if empty_directory {
        disk.remove_dir(dir)?;
    }
    sync_nearest(disk, &parent(dir))
}

/// Sets a directory's permission bits, durably.
pub fn set_dir_mode(disk: &dyn Disk, dir: &Path, mode: u32) -> Result<(), HostError> {
    disk.set_mode(dir, mode)?;
    disk.sync_dir(dir)
}

/// The name under which [`write_atomic`] writes; it is seen only after a crash.
pub(crate) fn leftover(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".blackstart-new");
    path.with_file_name(name)
}

/// Syncs a directory, or the nearest one above it that is still there.
fn sync_nearest(disk: &dyn Disk, dir: &Path) -> Result<(), HostError> {
    for dir in dir.ancestors() {
        if disk.exists(dir)? {
            return disk.sync_dir(dir);
        }
    }
    Ok(())
}
