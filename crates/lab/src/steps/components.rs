//! The components are installed in a layer that all machines share.
//!
//! The step that installs them on metal does it here, into a directory that stands for a machine. Each bundle has its
//! own directory: a layer must not change while machines run on it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{About, Step, StepError};
use host::{Change, Host};
use playbooks::cluster::{Components, bundle_id, verified_bundle};

use super::bundle;
use crate::{Lab, LabError};

pub(super) struct ComponentLayer {
    lab: Arc<Lab>,
}

/// What is still to be done.
pub(super) struct Seen {
    layer: PathBuf,
    missing: Vec<Change>,
    is_linked: bool,
}

impl ComponentLayer {
    pub(super) fn new(lab: &Arc<Lab>) -> Self {
        Self { lab: lab.clone() }
    }

    /// The lab's own name for the layer: which one it is, is decided once per boot.
    fn link(&self) -> PathBuf {
        Lab::dir(&self.lab.name).join("components")
    }
}

impl Step for ComponentLayer {
    type Seen = Seen;

    fn about(&self) -> About {
        About::new("components", "Install the components", "every machine has them under the same paths as on metal")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let manifest = verified_bundle(&bundle::dir()).await?;
        let layer = Path::new("/var/cache/blackstart/components").join(bundle_id(&manifest));
        let inside = Host { disk: Host::rooted(&layer).disk, ..host.clone() };
        let components = Components::new(bundle::dir());
        let missing = components.plan(&components.observe(&inside).await?)?;
        let is_linked = host.disk.read_link(&self.link())?.as_ref() == Some(&layer);
        Ok(Seen { layer, missing, is_linked })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        let mut changes = Vec::new();
        if !seen.missing.is_empty() {
            let what = format!("install {} files below {}", seen.missing.len(), seen.layer.display());
            changes.push(Change::Act { key: "install".into(), what });
        }
        if !seen.is_linked {
            changes.push(Change::Link { path: self.link(), target: seen.layer.clone() });
        }
        Ok(changes)
    }

    async fn apply(&self, change: &Change, host: &Host) -> Result<(), StepError> {
        let Change::Act { .. } = change else { return Ok(change.apply(&*host.disk)?) };
        let Seen { layer, missing, .. } = self.observe(host).await?;
        fs::create_dir_all(&layer).map_err(LabError::while_doing(format!("create {}", layer.display())))?;
        let inside = Host::rooted(&layer);
        for change in &missing {
            host.doing(change.to_string());
            change.apply(&*inside.disk)?;
        }
        Ok(())
    }
}
