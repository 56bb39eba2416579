//! What goes into a backup besides etcd: what a cluster cannot be made without again.
//!
//! From `/etc/kubernetes` only what all masters share and the key that encrypts Secrets: everything else is issued again
//! from that. Of the configuration directory everything but what is this node's own. Bootstrap tokens are in etcd.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use host::{Disk, Kind};
use join::{JoinKey, seal::layout};

use crate::BackupError;

/// The snapshot's name in a backup.
pub(crate) const SNAPSHOT: &str = "etcd/snapshot.db";

/// The key of encryption at rest, beside the kubeconfigs.
const ENCRYPTION: &str = "encryption.yaml";

/// The join key of a master that was given it by another one; the first master's is in its sealed directory.
pub(crate) const GIVEN_JOIN_KEY: &str = "pki/join.key";

/// The key of automatic backups: a reader of the backup has it.
pub(crate) const BACKUP_KEY: &str = "backup.key";

/// What another master must not be given.
const OF_THIS_NODE: &[&str] = &["node-identity", "current-node.yaml", BACKUP_KEY, layout::SECRET, layout::SERVING];

/// More than any file of a configuration has.
pub(crate) const LARGEST: u64 = 16 << 20;

/// Where a file belongs on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directory {
    /// `/etc/kubernetes`.
    Kubernetes,
    /// The configuration directory.
    Config,
}

impl Directory {
    const ALL: [Self; 2] = [Self::Kubernetes, Self::Config];

    fn prefix(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes/",
            Self::Config => "config/",
        }
    }
}

/// The small files of a backup, by their name in it. It holds keys, so it cannot be printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Contents {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Contents {
    /// Reads them from a master; what every master has must be there.
    pub fn read(disk: &dyn Disk, config_dir: &Path, kubernetes_dir: &Path) -> Result<Self, BackupError> {
        let mut contents = Self::default();
        for name in pki::table::shared_files().into_iter().chain([ENCRYPTION.to_owned()]) {
            let path = kubernetes_dir.join(&name);
            let bytes = disk.read_optional(&path)?.ok_or(BackupError::Incomplete(path))?;
            contents.files.insert(format!("{}{name}", Directory::Kubernetes.prefix()), bytes);
        }
        if let Some(bytes) = disk.read_optional(&kubernetes_dir.join(GIVEN_JOIN_KEY))? {
            contents.files.insert(format!("{}{GIVEN_JOIN_KEY}", Directory::Kubernetes.prefix()), bytes);
        }
        contents.add_config(disk, config_dir, Path::new(""))?;
        let description = format!("{}{}", Directory::Config.prefix(), layout::CLUSTER);
        if !contents.files.contains_key(&description) {
            return Err(BackupError::Incomplete(config_dir.join(layout::CLUSTER)));
        }
        // Where nodes have secrets, no master could let them in again without the key that made them.
        if disk.exists(&config_dir.join(layout::SECRET))? && contents.join_key().is_none() {
            return Err(BackupError::Incomplete(kubernetes_dir.join(GIVEN_JOIN_KEY)));
        }
        Ok(contents)
    }

    fn add_config(&mut self, disk: &dyn Disk, dir: &Path, below: &Path) -> Result<(), BackupError> {
        for name in disk.list(&dir.join(below))? {
            let (name, path) = (below.join(&name), dir.join(below).join(&name));
            let is_own = OF_THIS_NODE.iter().any(|own| name == Path::new(own));
            let is_hidden = name.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            let Some(meta) = disk.meta(&path)?.filter(|_| !is_own && !is_hidden) else { continue };
            match meta.kind {
                Kind::Directory => self.add_config(disk, dir, &name)?,
                Kind::File if meta.len > LARGEST => {
                    return Err(BackupError::TooLarge { path, size: meta.len, limit: LARGEST });
                }
                Kind::File => {
                    self.files.insert(format!("{}{}", Directory::Config.prefix(), name.display()), disk.read(&path)?);
                }
                // A link leads somewhere that a restored machine need not have.
                Kind::Link | Kind::Other => {}
            }
        }
        Ok(())
    }

    /// Each file with where it belongs.
    pub fn placed(&self) -> impl Iterator<Item = (Directory, PathBuf, &[u8])> {
        self.files.iter().filter_map(|(name, bytes)| {
            let (dir, path) = directory_of(name)?;
            Some((dir, path, bytes.as_slice()))
        })
    }

    /// The cluster's join key, wherever the master that made the backup had it.
    pub(crate) fn join_key(&self) -> Option<JoinKey> {
        let [given, sealed] = [(Directory::Kubernetes, GIVEN_JOIN_KEY), (Directory::Config, layout::JOIN_KEY)]
            .map(|(dir, name)| self.files.get(&format!("{}{name}", dir.prefix())));
        JoinKey::parse(&String::from_utf8_lossy(given.or(sealed)?)).ok()
    }

    /// The files of one directory, by their path below it.
    pub fn of(&self, wanted: Directory) -> BTreeMap<PathBuf, &[u8]> {
        let fitting = self.placed().filter(|(dir, ..)| *dir == wanted);
        fitting.map(|(_, path, bytes)| (path, bytes)).collect()
    }
}

/// Where a name of a backup belongs; `None` for one that leads out of its directory, or nowhere.
pub(crate) fn directory_of(name: &str) -> Option<(Directory, PathBuf)> {
    let (dir, below) =
        Directory::ALL.iter().find_map(|dir| name.strip_prefix(dir.prefix()).map(|below| (*dir, below)))?;
    let path = PathBuf::from(below);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && path.components().count() > 0).then_some((dir, path))
}

#[cfg(test)]
pub(crate) mod tests {
    use explain::Explain;
    use host::{Change, Content, disk::model::ModelDisk};

    use super::*;
    use crate::codes;

    pub(crate) fn write(disk: &dyn Disk, path: &str, text: &str) {
        let content = Content::Plain(text.into());
        host::create_dir_all(disk, Path::new(path).parent().unwrap(), 0o700).unwrap();
        Change::File { path: path.into(), mode: 0o600, content }.apply(disk).unwrap();
    }

    /// A master's disk; what a file holds is its name.
    pub(crate) fn master() -> ModelDisk {
        let disk = ModelDisk::default();
        for name in pki::table::files().iter().map(String::as_str).chain([ENCRYPTION]) {
            write(&disk, &format!("/etc/kubernetes/{name}"), name);
        }
        for name in ["cluster.yaml", "nodes/master-01.yaml", "encryption.key", "ca.crt", "ca-pin"] {
            write(&disk, &format!("/etc/cluster-config/{name}"), name);
        }
        write(&disk, "/etc/cluster-config/join.key", &"A".repeat(43));
        for name in [&["add-on/calico.yaml", ".hidden", "pki/ca.key"], OF_THIS_NODE].concat() {
            write(&disk, &format!("/etc/cluster-config/{name}"), name);
        }
        disk
    }

    pub(crate) fn read(disk: &dyn Disk) -> Result<Contents, BackupError> {
        Contents::read(disk, Path::new("/etc/cluster-config"), Path::new("/etc/kubernetes"))
    }

    #[test]
    fn what_is_shared_goes_in_and_what_is_a_nodes_own_does_not() {
        let names: Vec<String> = read(&master()).unwrap().files.into_keys().collect();
        insta::assert_snapshot!(names.join("\n"));
    }

    #[test]
    fn a_join_key_that_was_given_goes_in() {
        let disk = master();
        host::remove_file(&disk, Path::new("/etc/cluster-config/join.key")).unwrap();
        write(&disk, "/etc/kubernetes/pki/join.key", &"A".repeat(43));
        let contents = read(&disk).unwrap();
        assert!(contents.files.contains_key("kubernetes/pki/join.key") && contents.join_key().is_some());
    }

    #[test]
    fn a_machine_that_lacks_something_is_refused() {
        for missing in
            ["/etc/kubernetes/pki/etcd/ca.key", "/etc/kubernetes/encryption.yaml", "/etc/cluster-config/cluster.yaml"]
        {
            let disk = master();
            host::remove_file(&disk, Path::new(missing)).unwrap();
            let error = read(&disk).err().unwrap();
            assert_eq!((error.code(), error.to_string()), (codes::INCOMPLETE, format!("{missing} is missing")));
        }
        let disk = master();
        host::remove_file(&disk, Path::new("/etc/cluster-config/join.key")).unwrap();
        assert_eq!(read(&disk).err().map(|error| error.code()), Some(codes::INCOMPLETE), "nodes have secrets");
        host::remove_file(&disk, Path::new("/etc/cluster-config/join-secret")).unwrap();
        assert!(read(&disk).is_ok(), "a cluster that was never sealed has no such key");
    }

    #[test]
    fn no_name_leads_out_of_its_directory() {
        for (name, expected) in [
            ("kubernetes/pki/ca.key", Some((Directory::Kubernetes, "pki/ca.key"))),
            ("config/cluster.yaml", Some((Directory::Config, "cluster.yaml"))),
            ("config/../kubernetes/x", None),
            ("config//etc/passwd", None),
            ("config/", None),
            ("etcd/snapshot.db", None),
            ("elsewhere/x", None),
        ] {
            assert_eq!(directory_of(name), expected.map(|(dir, path)| (dir, path.into())), "{name}");
        }
    }
}
