//! The components of the bundle are installed, each version beside the others, and one link says which is in use.
//!
//! ```text
//! /opt/blackstart/bundles/4f2a…/bin/kubelet     one directory per bundle, never changed once it is complete
//! /opt/blackstart/current -> bundles/4f2a…      an upgrade or a way back is a switch of this link
//! /usr/local/bin/kubelet -> /opt/blackstart/current/bin/kubelet
//! /opt/cni/bin -> /opt/blackstart/current/cni
//! ```
//! The bundle is verified before the first change. Files are copied before the link is switched, so a half-copied
//! bundle is never in use.

use std::path::{Path, PathBuf};

use bundle::{MANIFEST, Manifest, Sum};
use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Host};

use super::ids;

const HOME: &str = "/opt/blackstart";
/// The bundle that is in use.
pub(super) const CURRENT: &str = "/opt/blackstart/current";
const PROGRAMS: &str = "/usr/local/bin";
const CNI: &str = "/opt/cni/bin";

/// Installs a bundle.
pub struct Components {
    /// The bundle's directory on the computer that runs the playbook.
    bundle: PathBuf,
}

impl Components {
    /// From this bundle.
    pub fn new(bundle: impl Into<PathBuf>) -> Self {
        Self { bundle: bundle.into() }
    }
}

impl Step for Components {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(
            ids::COMPONENTS,
            "Install the components",
            "Kubernetes, etcd and containerd come from a verified bundle",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        let manifest = verified(&self.bundle).await?;
        Ok(Change::missing(wanted(&self.bundle, &manifest), &*host.disk)?)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}

/// The manifest of a bundle whose files are all as it says.
pub async fn verified(bundle: &Path) -> Result<Manifest, StepError> {
    let dir = bundle.to_path_buf();
    match tokio::task::spawn_blocking(move || bundle::verify(&dir)).await {
        Ok(verified) => verified.map_err(|error| StepError::from_explained(&error)),
        Err(error) => {
            Err(StepError::new(bundle::codes::STOPPED, format!("verifying {} was cut off: {error}", bundle.display())))
        }
    }
}

/// A short name for what a bundle holds: the same for the same content.
pub fn bundle_id(manifest: &Manifest) -> String {
    let sums: String = manifest.files().map(|file| format!("{} {}\n", file.sha256, file.path)).collect();
    Sum::of(sums.as_bytes()).as_str()[..12].to_owned()
}

/// Everything an installed bundle consists of, files first, then the switch, then the names.
fn wanted(bundle: &Path, manifest: &Manifest) -> Vec<Change> {
    let name = format!("bundles/{}", bundle_id(manifest));
    let home = Path::new(HOME).join(&name);
    let copy = |path: &str, mode| Change::Copy { path: home.join(path), mode, from: bundle.join(path) };
    let mut changes: Vec<Change> = manifest.files().map(|file| copy(&file.path, file.mode)).collect();
    changes.push(copy(MANIFEST, 0o644));
    let current = Path::new(HOME).join("current");
    changes.push(Change::Link { path: current.clone(), target: name.into() });
    for file in manifest.files() {
        if let Some(program) = file.path.strip_prefix("bin/") {
            changes.push(Change::Link { path: Path::new(PROGRAMS).join(program), target: current.join(&file.path) });
        }
    }
    changes.push(Change::Link { path: CNI.into(), target: current.join("cni") });
    changes
}
