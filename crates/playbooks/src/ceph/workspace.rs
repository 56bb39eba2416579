//! Where something is made before it is moved to its place. What is in place is always whole, and what a crash leaves
//! unfinished is known by its name.

use std::path::{Path, PathBuf};

use ::ceph::owned;
use engine::StepError;
use host::{Cmd, Disk, Host};

/// What the names of workspaces begin with. Ceph's own tools pass over them.
const PREFIX: &str = ".blackstart-";

/// The workspace for something of this name.
pub(super) fn of(dir: &str, name: &str) -> PathBuf {
    Path::new(dir).join(format!("{PREFIX}{name}"))
}

/// All workspaces in a directory.
pub(super) fn all(disk: &dyn Disk, dir: &str) -> Result<Vec<PathBuf>, StepError> {
    let dir = Path::new(dir);
    let names = if disk.exists(dir)? { disk.list(dir)? } else { Vec::new() };
    Ok(names.iter().filter(|name| name.starts_with(PREFIX)).map(|name| dir.join(name)).collect())
}

/// Moves a directory to its place, after everything in it has reached the disk.
pub(super) async fn put_in_place(host: &Host, from: &Path, to: &Path) -> Result<(), StepError> {
    owned::run(host, &Cmd::new("sync").arg("--file-system").arg(from)).await?;
    host.disk.rename(from, to)?;
    Ok(host.disk.sync_dir(to.parent().unwrap_or(to))?)
}
