//! The cluster's own keys are taken from the sealed directory, where there is one. What is in use already wins.

use std::path::PathBuf;

use engine::{About, Step, StepError};
use host::{Change, Content, Host};

use crate::Layout;

/// Authorities and service account key, from the configuration directory to where Kubernetes looks for them.
pub(super) struct SealedKeys {
    from: PathBuf,
    to: PathBuf,
}

impl SealedKeys {
    /// On the first master.
    pub(super) fn new(layout: &Layout) -> Self {
        Self { from: layout.config_dir.clone(), to: layout.kubernetes_dir.clone() }
    }
}

impl Step for SealedKeys {
    type Seen = Vec<Change>;

    fn about(&self) -> About {
        About::new(
            "sealed-keys",
            "Take over the cluster's keys",
            "nodes were given the pin of this authority when they were sealed",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        let mut missing = Vec::new();
        for name in pki::table::shared_files() {
            let (from, path) = (self.from.join(&name), self.to.join(&name));
            if let Some(bytes) = host.disk.read_optional(&from)?
                && !host.disk.exists(&path)?
            {
                missing.push(Change::File { path, mode: 0o600, content: Content::Secret(bytes) });
            }
        }
        if !missing.is_empty() {
            let below = |name: &str| Change::Directory { path: self.to.join(name), mode: 0o700 };
            let directories: Vec<Change> = pki::table::DIRECTORIES.iter().map(|name| below(name)).collect();
            missing.splice(0..0, Change::missing(directories, &*host.disk)?);
        }
        Ok(missing)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}
