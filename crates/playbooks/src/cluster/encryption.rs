//! The key that encrypts secrets in etcd. Made once for the cluster: a cluster that loses it loses every secret.

use std::path::PathBuf;

use aws_lc_rs::rand;
use base64::{Engine, engine::general_purpose::STANDARD};
use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use spec::{Kms, ValidatedCluster};

use super::ids;
use crate::codes;
use nodekit::Layout;

/// `encryption.yaml` beside the kubeconfigs.
pub(super) struct EncryptionKey {
    path: PathBuf,
    kms: Option<Kms>,
    sealed: PathBuf,
}

/// What was found.
pub(super) struct Seen {
    is_there: bool,
    sealed: Option<Vec<u8>>,
}

impl EncryptionKey {
    /// In the usual place; the sealed directory may bring it.
    pub(super) fn new(cluster: &ValidatedCluster, layout: &Layout) -> Self {
        Self {
            kms: cluster.kms().cloned(),
            path: layout.kubernetes_dir.join("encryption.yaml"),
            sealed: layout.config_dir.join(join::seal::layout::ENCRYPTION_KEY),
        }
    }
}

impl Step for EncryptionKey {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(
            ids::ENCRYPTION_KEY,
            "Write the key for encryption at rest",
            "a copy of etcd's disk must not give secrets away",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        Ok(Seen { is_there: host.disk.exists(&self.path)?, sealed: host.disk.read_optional(&self.sealed)? })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        if seen.is_there {
            return Ok(Vec::new());
        }
        let key = if let Some(sealed) = &seen.sealed {
            String::from_utf8_lossy(sealed).trim().to_owned()
        } else {
            let mut key = [0; 32];
            rand::fill(&mut key)
                .map_err(|_| StepError::new(codes::NO_RANDOM, "cannot get random numbers from the system"))?;
            STANDARD.encode(key)
        };
        let content = Content::Secret(render::Encryption::first(&key, self.kms.as_ref()).text().into_bytes());
        Ok(vec![Change::File { path: self.path.clone(), mode: 0o600, content }])
    }
}
