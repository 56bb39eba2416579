//! What of the PKI is on the machine: every file of the table, read once. All that follows is pure.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use host::{Change, Disk, HostError, Kind, Meta};

use crate::{PkiError, table};

/// The files of the PKI as they were found. Holds private keys, so it cannot be printed.
#[derive(Clone)]
pub struct Existing {
    root: PathBuf,
    has_root: bool,
    directories: BTreeMap<&'static str, Meta>,
    files: BTreeMap<String, Found>,
}

/// A file that was found.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) bytes: Vec<u8>,
    pub(crate) meta: Meta,
}

impl Existing {
    /// Reads what is there below `root`, which is `/etc/kubernetes` on a real machine.
    pub fn read(disk: &dyn Disk, root: &Path) -> Result<Self, HostError> {
        let mut directories = BTreeMap::new();
        for directory in table::DIRECTORIES {
            if let Some(meta) = disk.meta(&root.join(directory))? {
                directories.insert(*directory, meta);
            }
        }
        let mut files = BTreeMap::new();
        for name in table::files() {
            let path = root.join(&name);
            if let Some(meta) = disk.meta(&path)? {
                files.insert(name, Found { bytes: disk.read(&path)?, meta });
            }
        }
        Ok(Self { root: root.to_path_buf(), has_root: disk.exists(root)?, directories, files })
    }

    /// What would be there after these changes, as far as they write files of the table.
    #[must_use]
    pub fn after(&self, changes: &[Change]) -> Self {
        let mut after = self.clone();
        for change in changes {
            let Change::File { path, mode, content } = change else { continue };
            let Some(name) = table::files().into_iter().find(|name| self.root.join(name) == *path) else { continue };
            let meta = Meta { kind: Kind::File, mode: *mode, len: content.bytes().len() as u64 };
            after.files.insert(name, Found { bytes: content.bytes().to_vec(), meta });
        }
        after
    }

    /// The absolute path of a file of the table.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn has_root(&self) -> bool {
        self.has_root
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(|found| found.bytes.as_slice())
    }

    /// Reads a file of the table with `parse`; `None` if there is no such file.
    pub(crate) fn parse<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&[u8]) -> Result<T, &'static str>,
    ) -> Result<Option<T>, PkiError> {
        let unreadable = |why| PkiError::Unreadable { path: self.path(name), why };
        self.bytes(name).map(|bytes| parse(bytes).map_err(unreadable)).transpose()
    }

    /// True if the directory is missing or open to others. A link is the operator's own choice and left alone.
    pub(crate) fn lacks_private_directory(&self, directory: &str, mode: u32) -> bool {
        self.directories.get(directory).is_none_or(|meta| meta.kind == Kind::Directory && meta.mode != mode)
    }

    /// The plain files that do not have this mode.
    pub(crate) fn files_without_mode(&self, mode: u32) -> impl Iterator<Item = (&str, &Found)> {
        let differs = move |meta: Meta| meta.kind == Kind::File && meta.mode != mode;
        self.files.iter().filter(move |(_, found)| differs(found.meta)).map(|(name, found)| (name.as_str(), found))
    }
}
