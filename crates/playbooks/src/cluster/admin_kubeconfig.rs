//! `kubectl` works for root on a master, unless root has a kubeconfig of its own.

use std::path::{Path, PathBuf};

use engine::{About, Step, StepError};
use host::{Change, Host};

use crate::Layout;

const OWN: &str = "/root/.kube/config";

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
    /// Whether anything is there.
    type Seen = bool;

    fn about(&self) -> About {
        About::new(
            "admin-kubeconfig",
            "Let root use kubectl",
            "whoever logs in to a master wants to look at the cluster",
        )
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(host.disk.meta(Path::new(OWN))?.is_some())
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Change>, StepError> {
        let link = Change::Link { path: OWN.into(), target: self.target.clone() };
        Ok(if *is_there { Vec::new() } else { vec![link] })
    }
}
