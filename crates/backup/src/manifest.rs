//! What is in a backup, by name, size and sum. It is the last thing in it, because only then all sums are known.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::BackupError;

/// The version this program writes. It grows when an older program could not restore the backup.
pub(crate) const VERSION: u32 = 1;
/// The manifest's own name.
pub(crate) const NAME: &str = "manifest.json";

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Of the format.
    pub version: u32,
    /// The program that made it.
    pub program: String,
    /// The cluster's name.
    pub cluster: String,
    /// The master it was made on.
    pub node: String,
    /// When.
    pub made: Timestamp,
    /// etcd's version.
    pub etcd_version: String,
    /// etcd's revision when the snapshot was asked for; it holds at least that.
    pub etcd_revision: u64,
    /// Everything else in it, in order.
    pub files: Vec<FileEntry>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its name in the backup.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256 in hex.
    pub sha256: String,
}

/// Only what every version has.
#[derive(Deserialize)]
struct Head {
    version: u32,
    #[serde(default)]
    program: String,
}

impl Manifest {
    /// Reads one, and compares it with what was seen in the same file.
    pub(crate) fn read(path: &Path, text: &[u8], seen: &[FileEntry]) -> Result<Self, BackupError> {
        let damaged = |why: String| BackupError::Damaged { path: path.to_path_buf(), why };
        let unreadable = |error: serde_json::Error| damaged(format!("its manifest cannot be read ({error})"));
        let Head { version, program } = serde_json::from_slice(text).map_err(unreadable)?;
        if version > VERSION {
            return Err(BackupError::Newer { path: path.to_path_buf(), version, known: VERSION, program });
        }
        let manifest: Self = serde_json::from_slice(text).map_err(unreadable)?;
        match manifest.difference(seen) {
            Some(difference) => Err(damaged(difference)),
            None => Ok(manifest),
        }
    }

    /// The first thing that is not as promised.
    fn difference(&self, seen: &[FileEntry]) -> Option<String> {
        let found = |name: &str| seen.iter().find(|one| one.name == name);
        let wrong = self.files.iter().find_map(|promised| match found(&promised.name) {
            None => Some(format!("{} is not in it", promised.name)),
            Some(one) if one != promised => Some(format!("{} is not what it was", promised.name)),
            Some(_) => None,
        });
        let promised = |name: &str| self.files.iter().any(|one| one.name == name);
        let surplus = || seen.iter().find(|one| !promised(&one.name));
        wrong.or_else(|| surplus().map(|one| format!("{} is in it and not in its manifest", one.name)))
    }
}

#[cfg(test)]
mod tests {
    use explain::Explain;
    use serde_json::json;

    use super::*;
    use crate::codes;

    fn entry(name: &str, sum: &str) -> FileEntry {
        FileEntry { name: name.into(), size: 3, sha256: sum.into() }
    }

    fn manifest() -> Manifest {
        Manifest {
            version: VERSION,
            program: "0.1.0".into(),
            cluster: "home".into(),
            node: "master-01".into(),
            made: Timestamp::UNIX_EPOCH,
            etcd_version: "3.7.3".into(),
            etcd_revision: 7,
            files: vec![entry("a", "11"), entry("b", "22")],
        }
    }

    #[test]
    fn what_is_promised_must_be_there_and_nothing_else() {
        let whole = serde_json::to_vec(&manifest()).unwrap();
        let read = |seen: &[FileEntry]| Manifest::read(Path::new("x.age"), &whole, seen).map_err(|e| e.to_string());
        assert_eq!(read(&[entry("b", "22"), entry("a", "11")]), Ok(manifest()));
        for (seen, why) in [
            (vec![entry("a", "11")], "b is not in it"),
            (vec![entry("a", "11"), entry("b", "33")], "b is not what it was"),
            (vec![entry("a", "11"), entry("b", "22"), entry("c", "")], "c is in it and not in its manifest"),
        ] {
            assert_eq!(read(&seen), Err(format!("x.age is damaged: {why}")));
        }
    }

    #[test]
    fn a_newer_one_is_reported_and_nonsense_too() {
        let read = |text: &str| Manifest::read(Path::new("x.age"), text.as_bytes(), &[]).unwrap_err();
        let newer = json!({ "version": 9, "program": "7.0.0", "files": "elsewhere" }).to_string();
        assert_eq!(read(&newer).code(), codes::NEWER);
        assert!(read(&newer).to_string().contains("7.0.0"), "{}", read(&newer));
        assert_eq!(read("{}").code(), codes::DAMAGED);
    }

    #[test]
    fn its_form_stays() {
        insta::assert_json_snapshot!(manifest());
    }
}
