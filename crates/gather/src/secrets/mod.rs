//! The secrets that lie on a machine, so that no copy of them leaves it.
//!
//! [`paths`] says where they lie and what a file there holds, [`values`] takes the secret values out of a text,
//! [`forms`] says how a value may look elsewhere. Values live in memory only and cannot be printed.

mod forms;
mod paths;
mod values;

use std::{collections::BTreeSet, path::Path};

use host::{Disk, Kind};
use nodekit::Layout;

pub(crate) use self::values::of_secret_objects;
use self::{paths::Holds, values::Values};
use crate::files;

/// Files larger than this are no secrets.
const LARGEST: u64 = 1 << 20;

/// Shorter ones would be found in every second word.
const SHORTEST: usize = 8;

/// The secret values of one or more machines.
#[derive(Default, Clone)]
pub(crate) struct Secrets(BTreeSet<Vec<u8>>);

/// What was found, and what could not be looked at.
pub(crate) struct Found {
    pub(crate) secrets: Secrets,
    pub(crate) unread: Vec<String>,
}

impl Secrets {
    /// The values in all files of a machine that hold some.
    pub(crate) fn read(disk: &dyn Disk, layout: &Layout) -> Found {
        Self::read_paths(disk, &paths::of(layout))
    }

    /// The same for a sealed directory, which holds the keys of the cluster.
    pub(crate) fn read_sealed(disk: &dyn Disk, dir: &Path) -> Found {
        Self::read_paths(disk, &paths::sealed(dir))
    }

    fn read_paths(disk: &dyn Disk, paths: &[(String, Holds)]) -> Found {
        let mut found = Found { secrets: Self::default(), unread: Vec::new() };
        for (pattern, holds) in paths {
            match files::matching(disk, pattern) {
                Ok(paths) => paths.iter().for_each(|path| found.file(disk, path, *holds)),
                Err(error) => found.unread.push(explain::chain(&error)),
            }
        }
        found
    }

    /// More values.
    pub(crate) fn add(&mut self, values: impl IntoIterator<Item = Vec<u8>>) {
        self.0.extend(values.into_iter().filter(|value| value.len() >= SHORTEST));
    }

    /// Those of another machine too.
    pub(crate) fn join(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Everything that a text must not contain.
    pub(crate) fn forms(&self) -> BTreeSet<Vec<u8>> {
        self.0.iter().flat_map(|value| forms::of(value)).filter(|form| form.len() >= SHORTEST).collect()
    }
}

impl Found {
    fn file(&mut self, disk: &dyn Disk, path: &Path, holds: Holds) {
        // Not through links: the file itself is found where it lies, or is not ours.
        let read = disk.meta(path).and_then(|meta| match meta {
            Some(meta) if meta.kind == Kind::File && meta.len <= LARGEST => disk.read(path).map(Some),
            _ => Ok(None),
        });
        match read {
            Ok(Some(bytes)) => {
                let mut values = Values::default();
                values.take(&bytes, holds);
                self.secrets.add(values.all());
            }
            Ok(None) => {}
            Err(error) => self.unread.push(explain::chain(&error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use host::RealDisk;

    use super::*;

    #[test]
    fn all_paths_are_read() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("etc/cluster-config/join-secret", "v2.worker-01.7.0.AAAABBBBCCCCDDDDEEEE\n");
        put("var/lib/cluster-state/bootstrap-token", "abcdef.0123456789abcdef\n");
        put("var/lib/cluster-state/originals/cluster/x/1", "password: correct-horse\n");
        put("etc/kubernetes/admin.conf", "users:\n- user:\n    client-key-data: c2VjcmV0IGtleSBkYXRh\n");
        put("var/lib/kubelet/pods/1/volumes/kubernetes.io~projected/kube-api/..2026/token", "eyJhbGciOi.payload.sig");
        put("var/lib/kubelet/pods/1/volumes/kubernetes.io~projected/kube-api/..2026/namespace", "kube-system");
        let found = Secrets::read(&RealDisk::new(root.path()), &Layout::default());
        assert!(found.unread.is_empty(), "{:?}", found.unread);
        for expected in [
            "AAAABBBBCCCCDDDDEEEE",
            "0123456789abcdef",
            "correct-horse",
            "c2VjcmV0IGtleSBkYXRh",
            "secret key data",
            "eyJhbGciOi.payload.sig",
        ] {
            assert!(found.secrets.0.contains(expected.as_bytes()), "{expected}");
        }
        assert!(!found.secrets.0.contains(&b"kube-system"[..]), "a namespace is no secret");
    }
}
