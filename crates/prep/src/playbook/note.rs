//! Small files in the state directory in which one run notes for the next what that cannot see.

use std::{collections::BTreeSet, path::Path};

use engine::StepError;
use host::{Disk, create_dir_all, write_atomic};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::codes;

/// Reads a note; `None` where there is none.
pub(super) fn read<T: DeserializeOwned>(disk: &dyn Disk, path: &Path) -> Result<Option<T>, StepError> {
    let Some(bytes) = disk.read_optional(path)? else { return Ok(None) };
    let bad = |error| StepError::new(codes::BAD_NOTE, format!("cannot parse {}: {error}", path.display()));
    serde_json::from_slice(&bytes).map(Some).map_err(bad)
}

/// Writes a note, whole at every instant.
pub(super) fn write(disk: &dyn Disk, path: &Path, note: &impl Serialize) -> Result<(), StepError> {
    let bad = |error| StepError::new(codes::BAD_NOTE, format!("{} cannot be made: {error}", path.display()));
    let mut text = serde_json::to_vec_pretty(note).map_err(bad)?;
    text.push(b'\n');
    if let Some(dir) = path.parent() {
        create_dir_all(disk, dir, 0o755)?;
    }
    Ok(write_atomic(disk, path, &text, 0o644)?)
}

/// Which packages have come by us.
///
/// Before an installation all names that are there are noted; what is there after it and was not before is ours. A run
/// that is killed in between leaves the list of before, and the next run goes on with that one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PackageNote {
    /// Asked for by name, because they were not there.
    pub(super) asked: BTreeSet<String>,
    /// Those, and what came with them.
    pub(super) added: BTreeSet<String>,
    /// What was there before the installation that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before: Option<BTreeSet<String>>,
}

impl PackageNote {
    /// An installation begins.
    pub(super) fn begin(&mut self, missing: &[&str], there: BTreeSet<String>) {
        self.asked.extend(missing.iter().map(|name| (*name).to_owned()));
        self.before.get_or_insert(there);
    }

    /// Whether this one was to come by an installation of which no run has seen the end.
    pub(super) fn is_under_way(&self, name: &str) -> bool {
        self.asked.contains(name) && self.before.as_ref().is_some_and(|before| !before.contains(name))
    }

    /// An installation has ended, well or not.
    pub(super) fn finish(&mut self, there: &BTreeSet<String>) {
        if let Some(before) = self.before.take() {
            self.added.extend(there.difference(&before).cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_was_there_before_is_not_ours() {
        let mut note = PackageNote::default();
        note.begin(&["open-iscsi"], set(&["bash"]));
        // Killed here: the next run sees half of it and must not take that for what others installed.
        note.begin(&["open-iscsi"], set(&["bash", "libisns0"]));
        note.finish(&set(&["bash", "libisns0", "open-iscsi"]));
        assert_eq!(note.added, set(&["libisns0", "open-iscsi"]));

        // A person installs vim, and later removes open-iscsi, which comes back.
        note.begin(&["open-iscsi"], set(&["bash", "libisns0", "vim"]));
        note.finish(&set(&["bash", "libisns0", "open-iscsi", "vim"]));
        assert_eq!((note.asked, note.added), (set(&["open-iscsi"]), set(&["libisns0", "open-iscsi"])));
        assert_eq!(note.before, None);
    }

    #[test]
    fn a_note_that_is_no_note_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let disk = host::RealDisk::new(root.path());
        let path = Path::new("/var/lib/x/packages.json");
        assert_eq!(read::<PackageNote>(&disk, path).unwrap(), None);
        write(&disk, path, &PackageNote::default()).unwrap();
        assert_eq!(read(&disk, path).unwrap(), Some(PackageNote::default()));
        write_atomic(&disk, path, b"{}", 0o644).unwrap();
        assert!(read::<PackageNote>(&disk, path).unwrap_err().to_string().contains("missing field"));
    }
}
