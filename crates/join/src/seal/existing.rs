//! What an earlier sealing left.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use host::{Disk, Kind};
use jiff::Timestamp;
use pki::table;
use secrecy::SecretSlice;
use spec::{Node, ValidatedCluster};

use super::{SealError, layout};
use crate::{
    JoinKey, NodeSecret, mac,
    secret::{BadSecret, NoRandomness},
};

const ENCRYPTION_BYTES: usize = 32;

/// Whose directory holds the cluster's keys: the node from which the cluster grows. All masters get them from there.
pub fn keeper(cluster: &ValidatedCluster) -> Option<&Node> {
    cluster.bootstrap_node().or_else(|| cluster.masters().next())
}

/// What is in the output directory. Holds keys, so it cannot be printed.
pub struct Existing {
    pub(super) out: PathBuf,
    pub(super) has_out: bool,
    pub(super) first: String,
    pub(super) pki: pki::Existing,
    /// The CA's certificate, if there is one.
    pub(super) ca: Option<Vec<u8>>,
    pub(super) join_key: Option<JoinKey>,
    pub(super) encryption_key: Option<EncryptionKey>,
    pub(super) secrets: BTreeMap<String, NodeSecret>,
    /// What masters answer with before they have joined, by node.
    pub(super) serving: BTreeMap<String, Vec<u8>>,
    /// The files below every node's `nodes/`.
    pub(super) node_files: Vec<PathBuf>,
    /// A directory of an earlier sealing, if there is one.
    pub(super) sealed: Option<PathBuf>,
    /// A directory with keys that is not the keeper's.
    pub(super) elsewhere: Option<PathBuf>,
}

/// What encrypts Secrets in etcd.
pub(super) struct EncryptionKey(pub(super) SecretSlice<u8>);

impl EncryptionKey {
    pub(super) fn generate() -> Result<Self, NoRandomness> {
        mac::random::<ENCRYPTION_BYTES>().map(|bytes| Self(bytes.to_vec().into()))
    }

    fn parse(text: &str) -> Result<Self, BadSecret> {
        let bytes = STANDARD.decode(text.trim()).ok().filter(|bytes| bytes.len() == ENCRYPTION_BYTES);
        bytes.map(|bytes| Self(bytes.into())).ok_or(BadSecret("an encryption key (base64 of 32 bytes)"))
    }
}

impl Existing {
    /// Reads what is in `out`, which need not exist.
    pub fn read(disk: &dyn Disk, out: &Path, cluster: &ValidatedCluster) -> Result<Self, SealError> {
        let first = keeper(cluster).map(|node| node.name.clone()).unwrap_or_default();
        let home = out.join(&first);
        let mut existing = Self {
            out: out.to_path_buf(),
            has_out: disk.exists(out)?,
            pki: pki::Existing::read(disk, &home)?,
            ca: disk.read_optional(&home.join(table::CLUSTER.certificate()))?,
            join_key: parsed(disk, &home.join(layout::JOIN_KEY), JoinKey::parse)?,
            encryption_key: parsed(disk, &home.join(layout::ENCRYPTION_KEY), EncryptionKey::parse)?,
            secrets: BTreeMap::new(),
            serving: BTreeMap::new(),
            node_files: Vec::new(),
            sealed: None,
            elsewhere: None,
            first,
        };
        let names = if existing.has_out { disk.list(out)? } else { Vec::new() };
        for name in names {
            let directory = out.join(&name);
            if disk.meta(&directory)?.is_none_or(|meta| meta.kind != Kind::Directory) {
                continue;
            }
            if let Some(secret) = parsed(disk, &directory.join(layout::SECRET), NodeSecret::parse)? {
                existing.secrets.insert(name.clone(), secret);
                existing.sealed.get_or_insert_with(|| directory.clone());
            }
            if let Some(pem) = disk.read_optional(&directory.join(layout::SERVING))? {
                existing.serving.insert(name.clone(), pem);
            }
            let nodes = directory.join(layout::NODES);
            if disk.meta(&nodes)?.is_some_and(|meta| meta.kind == Kind::Directory) {
                existing.node_files.extend(disk.list(&nodes)?.iter().map(|name| nodes.join(name)));
            }
            if name != existing.first && disk.exists(&directory.join(layout::JOIN_KEY))? {
                existing.elsewhere = Some(directory);
            }
        }
        Ok(existing)
    }

    /// When the secret of each node ends.
    pub fn ends(&self) -> BTreeMap<String, Option<Timestamp>> {
        self.secrets.iter().map(|(node, secret)| (node.clone(), secret.expires)).collect()
    }

    /// The keeper's directory.
    pub(super) fn home(&self) -> PathBuf {
        self.out.join(&self.first)
    }
}

/// Reads a secret; `None` if there is no such file.
pub(super) fn parsed<T>(
    disk: &dyn Disk,
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, BadSecret>,
) -> Result<Option<T>, SealError> {
    let Some(bytes) = disk.read_optional(path)? else { return Ok(None) };
    let failed = |source| SealError::Secret { path: path.to_path_buf(), source };
    parse(&String::from_utf8_lossy(&bytes)).map(Some).map_err(failed)
}
