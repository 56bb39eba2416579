//! The configs as they are on the disk now, each read once for each time that it is written.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use ::host::Disk;
use ::ignition::MAX_BYTES;
use join::{
    JoinKey, NodeSecret, Refusal,
    seal::Sealed,
    server::{Bytes, Configs},
};

/// Directories of this computer.
pub(super) struct Directory {
    disk: Arc<dyn Disk>,
    configs: PathBuf,
    sealed: PathBuf,
    join_key: PathBuf,
    /// By node: there are no more of them than nodes that have proved a secret.
    read: Mutex<BTreeMap<String, (Version, Bytes)>>,
}

/// Changes whenever a file is replaced.
type Version = (Option<SystemTime>, u64);

impl Directory {
    pub(super) fn new(disk: Arc<dyn Disk>, configs: PathBuf, sealed: PathBuf, join_key: PathBuf) -> Self {
        Self { disk, configs, sealed, join_key, read: Mutex::default() }
    }

    fn bytes(&self, node: &str) -> Result<Bytes, Refusal> {
        let path = self.configs.join(format!("{node}.ign"));
        let missing = || Refusal::NoConfig { node: node.to_owned() };
        let failed = |error: std::io::Error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                return missing();
            }
            Refusal::Failure { why: format!("cannot read the config of {node}: {error}") }
        };
        let meta = fs::metadata(&path).map_err(failed)?;
        let version = (meta.modified().ok(), meta.len());
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = read.get(node).filter(|(held, _)| *held == version) {
            return Ok(bytes.clone());
        }
        let mut bytes = Vec::new();
        File::open(&path).map_err(failed)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > MAX_BYTES {
            return Err(Refusal::Failure { why: format!("the config of {node} is larger than {MAX_BYTES} bytes") });
        }
        let bytes = Bytes::from(bytes);
        read.insert(node.to_owned(), (version, bytes.clone()));
        Ok(bytes)
    }
}

impl Configs for Directory {
    fn join_keys(&self) -> Vec<JoinKey> {
        let text = self.disk.read_optional(&self.join_key).ok().flatten().unwrap_or_default();
        JoinKey::parse_all(&String::from_utf8_lossy(&text)).unwrap_or_default()
    }

    fn config(&self, secret: &NodeSecret) -> Result<Bytes, Refusal> {
        let node = &secret.node;
        let failed = |why: String| Refusal::Failure { why };
        let sealed =
            Sealed::read(&*self.disk, &self.sealed.join(node)).map_err(|error| failed(explain::chain(&error)))?;
        let sealed = sealed.ok_or_else(|| Refusal::NoConfig { node: node.clone() })?;
        if secret.generation != sealed.secret.generation {
            let (generation, minimum) = (secret.generation, sealed.secret.generation);
            return Err(Refusal::OldSecret { node: node.clone(), generation, minimum });
        }
        self.bytes(node)
    }
}
