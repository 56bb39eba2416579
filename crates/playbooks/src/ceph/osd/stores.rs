//! How far each listed device or file has come.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ::ceph::{Fsid, device, paths};
use engine::StepError;
use host::{Disk, Host};
use spec::{Osd, OsdStore};

use super::{
    super::{daemon::Kind, undo},
    begun::Begun,
};

/// The link in an OSD's directory to what it keeps its data on.
pub(super) const BLOCK: &str = "block";

/// How far a device or file has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StoreState {
    /// An OSD of this number is there. A workspace that a crash has left is to be removed.
    Made { id: u32, has_leftover: bool },
    /// An OSD is to be made, after destroying what was seen there, if cluster.yaml says so.
    ToBeMade { destroying: Option<String> },
    /// The data of an OSD of ours is there, and its files are gone.
    Lost { osd: Fsid },
    /// Nothing may be made there.
    Refused { seen: String, can_be_wiped: bool },
}

/// Looks at every listed device or file.
pub(super) async fn check(host: &Host, listed: &[Osd], ours: &Fsid) -> Result<Vec<StoreState>, StepError> {
    let disk = &*host.disk;
    let (made, begun) = (made(disk, ours)?, Begun::all(disk)?);
    let uuids: Vec<Fsid> = begun.iter().map(|begun| begun.uuid.clone()).collect();
    let mut states = Vec::new();
    for osd in listed {
        let path = osd.store.path();
        let has_leftover = begun.iter().any(|begun| begun.store == path);
        if let Some(id) = made.get(path) {
            states.push(StoreState::Made { id: *id, has_leftover });
            continue;
        }
        let is_file = matches!(osd.store, OsdStore::File { .. });
        let content = device::check(host, path, is_file).await.map_err(|error| StepError::from_explained(&error))?;
        states.push(match device::evaluate(&content, ours, &uuids, osd.wipe) {
            device::Verdict::Free => StoreState::ToBeMade { destroying: None },
            device::Verdict::Ours(label) if uuids.contains(&label.osd) => StoreState::ToBeMade { destroying: None },
            device::Verdict::Ours(label) => StoreState::Lost { osd: label.osd },
            device::Verdict::Wipe(seen) => StoreState::ToBeMade { destroying: Some(seen) },
            device::Verdict::Refused(refusal) => {
                StoreState::Refused { seen: refusal.seen, can_be_wiped: refusal.can_be_wiped }
            }
        });
    }
    Ok(states)
}

/// The OSDs of ours that are in place: what each keeps its data on, and its number.
pub(super) fn made(disk: &dyn Disk, ours: &Fsid) -> Result<BTreeMap<PathBuf, u32>, StepError> {
    let mut made = BTreeMap::new();
    for name in undo::ours_of(disk, Kind::Osd, ours)? {
        let block = Path::new(paths::OSD).join(format!("{}{name}", paths::PREFIX)).join(BLOCK);
        if let (Ok(id), Some(store)) = (name.parse(), disk.read_link(&block)?) {
            made.insert(store, id);
        }
    }
    Ok(made)
}
