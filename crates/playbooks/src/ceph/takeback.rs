//! How daemons of Ceph are taken back: whatever carries our own fsid is ended and removed, and nothing else.

use std::path::Path;

use ::ceph::{Fsid, paths};
use engine::{Notes, StepError, TakeBack};
use host::{Disk, Host};

use super::{WORKSPACE, daemon::Kind};
use crate::{residue::tree, service};

/// The daemons of one kind.
pub(crate) struct Daemons(pub(super) Kind);

impl TakeBack for Daemons {
    fn shows(&self) -> Vec<String> {
        let Self(kind) = self;
        vec![format!("stop {}, and remove what carries this cluster's fsid in {}", kind.unit("*"), kind.dir())]
    }

    fn shows_act(&self, _key: &str) -> Option<String> {
        None
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        let Self(kind) = self;
        let disk = &*host.disk;
        // Without keys no daemon was ever made.
        let Some(ours) = paths::own_fsid(disk)? else { return Ok(Notes::new()) };
        for name in ours_of(disk, *kind, &ours)? {
            if host.is_live {
                service::stop(host, &kind.unit(&name)).await?;
            }
            tree::remove(disk, &Path::new(kind.dir()).join(format!("{}{name}", paths::PREFIX)))?;
        }
        for name in list(disk, kind.dir())?.into_iter().filter(|name| name.starts_with(WORKSPACE)) {
            tree::remove(disk, &Path::new(kind.dir()).join(name))?;
        }
        Ok(Notes::new())
    }

    /// Whatever it is called, it has gone with its daemon.
    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}

/// The daemons that carry our fsid, by name.
pub(super) fn ours_of(disk: &dyn Disk, kind: Kind, ours: &Fsid) -> Result<Vec<String>, StepError> {
    let found = paths::daemons(disk, kind.dir())?;
    Ok(found.into_iter().filter(|(_, fsid)| fsid.as_ref() == Some(ours)).map(|(name, _)| name).collect())
}

pub(super) fn list(disk: &dyn Disk, dir: &str) -> Result<Vec<String>, StepError> {
    let dir = Path::new(dir);
    Ok(if disk.exists(dir)? { disk.list(dir)? } else { Vec::new() })
}

/// Removes files, in this order.
pub(super) fn remove_all(disk: &dyn Disk, files: &[&str]) -> Result<(), StepError> {
    for file in files {
        host::remove_file(disk, Path::new(file))?;
    }
    Ok(())
}

/// What Ceph itself keeps: it is not one node's to remove.
pub(crate) struct InCeph;

impl TakeBack for InCeph {
    fn shows_act(&self, _key: &str) -> Option<String> {
        None
    }

    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}
