//! How OSDs are taken back: what they stored goes, too, where it carries our fsid.

use std::path::{Path, PathBuf};

use ::ceph::{
    Fsid,
    device::{self, Content},
    paths,
};
use engine::{Notes, StepError, TakeBack};
use host::{Host, Kind as What};

use super::{
    super::{
        daemon::Kind,
        leave,
        takeback::{self, Daemons},
    },
    begun::Begun,
    make, places,
};
use crate::{service, systemd};

/// The daemons, which go before their data.
pub(crate) struct Stopped;

impl TakeBack for Stopped {
    fn shows(&self) -> Vec<String> {
        vec![format!("stop {}", Kind::Osd.unit("*"))]
    }

    fn shows_act(&self, _key: &str) -> Option<String> {
        None
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        let disk = &*host.disk;
        let Some(ours) = paths::own_fsid(disk)?.filter(|_| host.is_live) else { return Ok(Notes::new()) };
        for id in takeback::ours_of(disk, Kind::Osd, &ours)? {
            service::stop(host, &Kind::Osd.unit(&id)).await?;
        }
        Ok(Notes::new())
    }

    /// Whatever it is called, it was started, and it has been stopped.
    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }

    /// The files beside its unit are gone.
    async fn after(&self, host: &Host) -> Result<(), StepError> {
        if host.is_live { systemd::systemctl(host, &["daemon-reload"]).await.map(drop) } else { Ok(()) }
    }
}

/// The data of OSDs, in whatever state.
pub(crate) struct Stores;

impl TakeBack for Stores {
    fn shows(&self) -> Vec<String> {
        let wiped = "remove what OSDs of this cluster have stored on this machine".to_owned();
        Daemons(Kind::Osd).shows().into_iter().chain([wiped]).collect()
    }

    fn shows_act(&self, _key: &str) -> Option<String> {
        None
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        let disk = &*host.disk;
        let Some(ours) = paths::own_fsid(disk)? else { return Ok(Notes::new()) };
        // A run that was killed may have started one that the ledger does not know of.
        Stopped.before(host).await?;
        let (made, begun) = (places::made(disk, &ours)?, Begun::all(disk)?);
        let stores = made.keys().chain(begun.iter().map(|begun| &begun.store));
        let mut stores: Vec<&PathBuf> = stores.collect();
        stores.dedup();
        for store in stores {
            forget(host, store, &ours, &begun).await?;
        }
        let mut notes = Notes::new();
        for id in made.values().filter(|_| host.is_live) {
            notes.extend(leave::forget_osd(host, &id.to_string()).await);
        }
        Daemons(Kind::Osd).before(host).await?;
        Ok(notes)
    }

    /// Whatever it is called, it has gone with the OSD.
    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}

/// A file of ours is removed, a device of ours is emptied; anything else stays as it is.
async fn forget(host: &Host, store: &Path, ours: &Fsid, begun: &[Begun]) -> Result<(), StepError> {
    let Some(meta) = host.disk.meta(store)? else { return Ok(()) };
    let is_file = meta.kind == What::File;
    let content = device::look(host, store, is_file).await.map_err(|error| StepError::from_explained(&error))?;
    let is_begun = |osd: &Fsid| begun.iter().any(|begun| begun.uuid == *osd);
    match content {
        Content::Osd(label) if label.cluster.as_ref() == Some(ours) || is_begun(&label.osd) => {}
        // Made for an OSD and never written to.
        Content::Empty if is_file => {}
        _ => return Ok(()),
    }
    if is_file { Ok(host::remove_file(&*host.disk, store)?) } else { make::wipe(host, store).await }
}
