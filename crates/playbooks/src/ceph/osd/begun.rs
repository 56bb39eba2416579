//! What an OSD is made with, noted before the monitors hear of it.

use std::path::{Path, PathBuf};

use ::ceph::{Cipher, Fsid, Key, NoRandomness, paths};
use engine::StepError;
use host::{Change, Content, Disk, HostError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::workspace;

const FILE: &str = "begun.json";

/// An OSD that is being made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    /// The device or file.
    pub(super) store: PathBuf,
    /// Its own UUID.
    pub(super) uuid: Fsid,
    /// Its key.
    pub(super) key: Key,
}

impl Begun {
    pub(super) fn new(store: &Path, now: Timestamp) -> Result<Self, NoRandomness> {
        Ok(Self { store: store.to_path_buf(), uuid: Fsid::generate()?, key: Key::generate(Cipher::OURS, now)? })
    }

    /// Where an OSD on this device or file is made.
    pub(super) fn workspace(store: &Path) -> PathBuf {
        let name = store.display().to_string().trim_start_matches('/').replace('/', "-");
        workspace::of(paths::OSD, &name)
    }

    /// Those that are being made.
    pub(super) fn all(disk: &dyn Disk) -> Result<Vec<Self>, StepError> {
        let mut all = Vec::new();
        for workspace in workspace::all(disk, paths::OSD)? {
            all.extend(Self::read(disk, &workspace)?);
        }
        Ok(all)
    }

    /// The one in a workspace. What cannot be read was never finished being written, and no monitor knows it.
    fn read(disk: &dyn Disk, workspace: &Path) -> Result<Option<Self>, HostError> {
        let text = disk.read_optional(&workspace.join(FILE))?;
        Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
    }

    /// As it is noted.
    pub(super) fn note(&self) -> Change {
        let text = serde_json::json!(self).to_string();
        let path = Self::workspace(&self.store).join(FILE);
        Change::File { path, mode: 0o600, content: Content::Secret(text.into_bytes()) }
    }
}

#[cfg(test)]
mod tests {
    use host::Host;

    use super::*;

    #[test]
    fn what_is_noted_is_found_again() {
        let root = tempfile::tempdir().unwrap();
        let disk = Host::rooted(root.path()).disk;
        assert_eq!(Begun::all(&*disk).unwrap(), []);
        let begun = Begun::new(Path::new("/dev/disk/by-id/a"), Timestamp::UNIX_EPOCH).unwrap();
        begun.note().apply(&*disk).unwrap();
        assert_eq!(Begun::all(&*disk).unwrap(), [begun]);
        assert_eq!(
            Begun::workspace(Path::new("/dev/disk/by-id/a")),
            Path::new("/var/lib/ceph/osd/.blackstart-dev-disk-by-id-a")
        );
    }
}
