//! The KMS plugin answers. It is not ours to start, and without it the API server can read and write no Secret.

use std::path::PathBuf;

use engine::{About, FilesOnly, Step, StepError, Verdict};
use host::Host;
use render::{Encryption, EncryptionProvider};

use super::ids;
use crate::service::{Health, Probe};
use nodekit::Layout;

/// Waits for the socket of every KMS in `encryption.yaml`. What cluster.yaml says counts only after a rotation.
pub(super) struct KmsPlugin {
    encryption: PathBuf,
}

impl KmsPlugin {
    pub(super) fn new(layout: &Layout) -> Self {
        Self { encryption: layout.kubernetes_dir.join("encryption.yaml") }
    }
}

impl Step for KmsPlugin {
    type Seen = Health;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::KMS_PLUGIN, "Wait for the KMS plugin", "the API server reads and writes Secrets through it")
    }

    async fn observe(&self, host: &Host) -> Result<Health, StepError> {
        let text = host.disk.read_optional(&self.encryption)?.unwrap_or_default();
        let read = Encryption::parse(&String::from_utf8_lossy(&text));
        for provider in read.into_iter().flat_map(|read| read.providers) {
            let EncryptionProvider::Kms(kms) = provider else { continue };
            let health = Probe::UnixSocket(kms.socket).check(host).await?;
            if health != Health::Good {
                return Ok(health);
            }
        }
        Ok(Health::Good)
    }

    fn verify(&self, seen: &Health) -> Verdict {
        match seen {
            Health::Good | Health::Unknown => Verdict::Met,
            Health::NotYet { what, progress } => {
                Verdict::Waiting { what: format!("the KMS plugin: {what}"), progress: progress.clone() }
            }
        }
    }
}
