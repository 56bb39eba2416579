//! `kubectl` works for root on a master, unless root has a kubeconfig of its own.

use std::path::{Path, PathBuf};

use engine::{About, Planned, Step, StepError, Undo};
use host::{Change, Host};

use super::ids;
use nodekit::{Layout, cleanup::tree::Own};

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
    type Seen = Vec<Planned>;
    type Undo = Linked;

    fn about(&self) -> About {
        About::new(ids::ADMIN_KUBECONFIG, "Let root use kubectl", "kubectl works for root on a master")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Planned>, StepError> {
        if host.disk.meta(Path::new(OWN))?.is_some() {
            return Ok(Vec::new());
        }
        let link = Change::Link { path: OWN.into(), target: self.target.clone() }.into();
        let cache = Own::claim(&*host.disk, Path::new(CACHE))?;
        let claim = cache.map(|own| Planned::claim(own.key(), format!("claim {CACHE} for kubectl")));
        Ok([link].into_iter().chain(claim).collect())
    }

    fn plan(&self, changes: &Vec<Planned>) -> Result<Vec<Planned>, StepError> {
        Ok(changes.clone())
    }
}

/// How root's way to the cluster is undone.
pub(super) struct Linked;

impl Undo for Linked {
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
