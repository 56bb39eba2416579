//! `kubectl` works for root on a master, unless root has a kubeconfig of its own.

use std::path::{Path, PathBuf};

use engine::{About, Step, StepError, TakeBack};
use host::{Change, Host};

use crate::{Layout, residue::tree::Own};

const OWN: &str = "/root/.kube/config";
/// What `kubectl` keeps of the clusters it has seen.
const CACHE: &str = "/root/.kube/cache";

/// A link from where `kubectl` looks to the administrator's kubeconfig.
pub(super) struct AdminKubeconfig {
    target: PathBuf,
}

impl AdminKubeconfig {
    /// On this master.
    pub(super) fn new(layout: &Layout) -> Self {
        Self { target: layout.kubernetes_dir.join("admin.conf") }
    }
}

impl Step for AdminKubeconfig {
    /// What is to be done; nothing where root has a kubeconfig.
    type Seen = Vec<Change>;

    fn about(&self) -> About {
        About::new(
            "admin-kubeconfig",
            "Let root use kubectl",
            "whoever logs in to a master wants to look at the cluster",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        if host.disk.meta(Path::new(OWN))?.is_some() {
            return Ok(Vec::new());
        }
        let link = Change::Link { path: OWN.into(), target: self.target.clone() };
        let cache = Own::claim(&*host.disk, Path::new(CACHE))?;
        let claim = cache.map(|own| Change::Act { key: own.key(), what: format!("claim {CACHE} for kubectl") });
        Ok([link].into_iter().chain(claim).collect())
    }

    fn plan(&self, changes: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(changes.clone())
    }

    async fn apply(&self, change: &Change, host: &Host) -> Result<(), StepError> {
        Ok(change.apply(&*host.disk)?) // that a claim is in the ledger is all there is to it
    }
}

/// How root's way to the cluster is taken back.
pub(super) struct Linked;

impl TakeBack for Linked {
    fn shows_act(&self, key: &str) -> Option<String> {
        Some(format!("remove {key}"))
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        match Own::from_key(key) {
            Some(cache) => cache.remove(host, &[]).await,
            None => Ok(()),
        }
    }
}
