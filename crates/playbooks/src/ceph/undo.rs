//! How daemons of Ceph are undone: whatever carries our own fsid is ended and removed, and nothing else.

use std::path::Path;

use ::ceph::{Fsid, paths};
use engine::{Notes, StepError, Undo};
use host::{Disk, Host};

use super::{daemon::Kind, leave, workspace};
use crate::service;
use nodekit::cleanup::tree;

/// The daemons of one kind.
pub(crate) struct Daemons(pub(super) Kind);

impl Undo for Daemons {
    fn shows(&self) -> Vec<String> {
        let Self(kind) = self;
        vec![format!("stop {}, and remove what carries this cluster's fsid in {}", kind.unit("*"), kind.dir())]
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        let Self(kind) = self;
        let disk = &*host.disk;
        // Without keys no daemon was ever made.
        let Some(ours) = paths::own_fsid(disk)? else { return Ok(Notes::new()) };
        let mut notes = Notes::new();
        for name in ours_of(disk, *kind, &ours)? {
            if host.is_live {
                // While it still takes part, it can say that it goes.
                if *kind == Kind::Mon {
                    notes.extend(leave::forget_monitor(host, &name).await);
                }
                service::stop(host, &kind.unit(&name)).await?;
            }
            tree::remove(disk, &Path::new(kind.dir()).join(format!("{}{name}", paths::PREFIX)))?;
        }
        for unfinished in workspace::all(disk, kind.dir())? {
            tree::remove(disk, &unfinished)?;
        }
        Ok(notes)
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

/// Removes files, in this order.
pub(super) fn remove_all(disk: &dyn Disk, files: &[&str]) -> Result<(), StepError> {
    for file in files {
        host::remove_file(disk, Path::new(file))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{
        super::testing::{left, machine},
        *,
    };

    const OURS: &str = "6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10";

    #[tokio::test]
    async fn only_what_carries_our_fsid_goes() {
        let files = [
            ("/var/lib/ceph/mon/ceph-m1/ceph_fsid", OURS),
            ("/var/lib/ceph/mon/ceph-m1/store.db/CURRENT", ""),
            ("/var/lib/ceph/mon/.blackstart-m1/monmap", ""),
            ("/var/lib/ceph/mon/ceph-x/ceph_fsid", "11111111-0d6c-4a43-9d0e-2f1f4d1c9b10"),
            ("/var/lib/ceph/mon/ceph-y/store.db/CURRENT", ""),
            (paths::FSID, OURS),
        ];
        let (root, host) = machine(&files);
        for _ in 0..2 {
            Daemons(Kind::Mon).before(&host).await.unwrap();
            let kept = [
                "/etc/ceph/cluster.fsid",
                "/var/lib/ceph/mon/ceph-x/ceph_fsid",
                "/var/lib/ceph/mon/ceph-y/store.db/CURRENT",
            ];
            assert_eq!(left(root.path()), kept);
        }
        let (root, host) = machine(&files[..5]);
        Daemons(Kind::Mon).before(&host).await.unwrap();
        assert_eq!(left(root.path()).len(), 5, "a machine that does not know which is ours keeps everything");
    }
}
