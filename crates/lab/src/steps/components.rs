//! The components are installed in a layer that all machines share.
//!
//! The step that installs them on metal does it here, into a directory that stands for a machine. Each bundle has its
//! own directory: a layer must not change while machines run on it. One that was installed from a verified bundle is
//! noted as complete and not summed again at every `lab up`, which would take longer than a machine takes to boot.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use ::bundle::Manifest;
use engine::{About, Act, Planned, Stays, Step, StepError};
use host::{Change, Host};
use playbooks::cluster::{Components, bundle_id, verified_bundle};

use super::{bundle, ids};
use crate::{Lab, LabError, base};

pub(super) struct ComponentLayer {
    lab: Arc<Lab>,
}

/// What is still to be done.
pub(super) struct Seen {
    layer: PathBuf,
    is_complete: bool,
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

/// The layer of a bundle.
fn layer(manifest: &Manifest) -> PathBuf {
    Path::new("/var/cache/blackstart/components").join(bundle_id(manifest))
}

/// Says that everything is in the layer.
fn note(layer: &Path) -> PathBuf {
    layer.with_extension("complete")
}

impl Step for ComponentLayer {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::COMPONENTS, "Install the components", "every machine has them under the same paths as on metal")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let manifest = Manifest::read(&bundle::dir()).map_err(|error| StepError::from_explained(&error))?;
        let layer = layer(&manifest);
        let is_complete = host.disk.exists(&note(&layer))?;
        let is_linked = host.disk.read_link(&self.link())?.as_ref() == Some(&layer);
        Ok(Seen { layer, is_complete, is_linked })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let mut changes = Vec::new();
        if !seen.is_complete {
            let what = format!("install the components below {}", seen.layer.display());
            changes.push(Planned::act("install", what));
        }
        if !seen.is_linked {
            changes.push(Change::Link { path: self.link(), target: seen.layer.clone() }.into());
        }
        Ok(changes)
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let layer = layer(&verified_bundle(&bundle::dir()).await?);
        fs::create_dir_all(&layer).map_err(LabError::while_doing(format!("create {}", layer.display())))?;
        let inside = Host { disk: Host::rooted(&layer).disk, is_live: false, ..host.clone() };
        let components = Components::new(bundle::dir());
        for change in components.plan(&components.observe(&inside).await?)? {
            host.doing(change.to_string());
            change.apply(&*inside.disk)?;
        }
        Ok(base::write(&note(&layer), "")?)
    }
}
