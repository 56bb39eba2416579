//! The files of a backup against those on the machine.

use std::path::{Path, PathBuf};

use host::{Change, Content, Disk, HostError};
use jiff::Timestamp;
use join::{Generation, seal::layout};
use secrecy::ExposeSecret;
use spec::SecretTtl;

use crate::{Contents, Directory};

const FILE: u32 = 0o600;
const DIRECTORY: u32 = 0o700;

/// What becomes of the files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Those to be written.
    pub write: Vec<Change>,
    /// Those that are there and hold something else; they are among `write`, too.
    pub different: Vec<PathBuf>,
    /// How many are there already, and the same.
    pub same: usize,
}

impl Plan {
    /// Compares; `node` is the master that this machine becomes. Its secret ends as that of a node sealed now.
    pub fn new(
        contents: &Contents,
        node: &str,
        now: Timestamp,
        disk: &dyn Disk,
        config_dir: &Path,
        kubernetes_dir: &Path,
    ) -> Result<Self, HostError> {
        let mut plan = Self::default();
        for (dir, path, bytes) in contents.placed() {
            let dir = match dir {
                Directory::Config => config_dir,
                Directory::Kubernetes => kubernetes_dir,
            };
            plan.add(dir.join(path), bytes, disk)?;
        }
        let secret = config_dir.join(layout::SECRET);
        if let Some(text) = secret_of(contents, node, now)
            && !disk.exists(&secret)?
        {
            plan.add(secret, text.as_bytes(), disk)?;
        }
        Ok(plan)
    }

    fn add(&mut self, path: PathBuf, bytes: &[u8], disk: &dyn Disk) -> Result<(), HostError> {
        match disk.read_optional(&path)? {
            Some(existing) if existing == bytes => {
                self.same += 1;
                return Ok(());
            }
            Some(_) => self.different.push(path.clone()),
            None => {}
        }
        self.write.push(Change::File { path, mode: FILE, content: Content::Secret(bytes.to_vec()) });
        Ok(())
    }

    /// Writes them, each atomically.
    pub fn apply(&self, disk: &dyn Disk) -> Result<(), HostError> {
        for change in &self.write {
            if let Change::File { path, .. } = change {
                host::create_dir_all(disk, path.parent().unwrap_or(Path::new("/")), DIRECTORY)?;
            }
            change.apply(disk)?;
        }
        Ok(())
    }
}

/// What a sealed directory of this node would hold: it is not in the backup, but follows from what is.
fn secret_of(contents: &Contents, node: &str, now: Timestamp) -> Option<String> {
    let end = join::seal::end(SecretTtl::default(), now);
    let secret = contents.join_key()?.node_secret(node, Generation::at(now), end);
    Some(format!("{}\n", secret.text().expose_secret()))
}

#[cfg(test)]
mod tests {
    use host::disk::model::ModelDisk;

    use super::*;
    use crate::contents::tests::{master, read, write};

    fn planned(disk: &dyn Disk, contents: &Contents) -> Plan {
        let now = Timestamp::UNIX_EPOCH;
        Plan::new(contents, "master-02", now, disk, Path::new("/etc/cluster-config"), Path::new("/etc/kubernetes"))
            .unwrap()
    }

    #[test]
    fn an_empty_machine_gets_everything_and_then_nothing_is_left_to_do() {
        let (contents, disk) = (read(&master()).unwrap(), ModelDisk::default());
        let plan = planned(&disk, &contents);
        let with_secret = contents.files.len() + 1;
        assert_eq!((plan.write.len(), plan.different.len(), plan.same), (with_secret, 0, 0));
        plan.apply(&disk).unwrap();
        assert_eq!(disk.read(Path::new("/etc/kubernetes/pki/etcd/ca.key")).unwrap(), b"pki/etcd/ca.key");
        let again = planned(&disk, &contents);
        assert_eq!(again, Plan { same: contents.files.len(), ..Plan::default() });
    }

    #[test]
    fn what_differs_is_named_and_no_secret_is_shown() {
        let (contents, disk) = (read(&master()).unwrap(), ModelDisk::default());
        write(&disk, "/etc/kubernetes/pki/ca.key", "of another cluster");
        write(&disk, "/etc/cluster-config/cluster.yaml", "cluster.yaml");
        let plan = planned(&disk, &contents);
        assert_eq!(plan.different, [PathBuf::from("/etc/kubernetes/pki/ca.key")]);
        assert_eq!(plan.same, 1);
        assert!(!format!("{plan:?}").contains("of another cluster") && !format!("{plan:?}").contains("encryption key"));
    }

    #[test]
    fn a_node_gets_its_own_secret_unless_it_has_one() {
        let contents = read(&master()).unwrap();
        let disk = ModelDisk::default();
        let secret = Path::new("/etc/cluster-config/join-secret");
        planned(&disk, &contents).apply(&disk).unwrap();
        assert!(disk.read(secret).unwrap().starts_with(b"v2.master-02.1."));
        write(&disk, "/etc/cluster-config/join-secret", "sealed");
        assert_eq!(planned(&disk, &contents), Plan { same: contents.files.len(), ..Plan::default() });
    }
}
