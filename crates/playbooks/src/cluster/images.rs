//! The images of the bundle are known to containerd, so that no registry is needed.

use std::path::{Path, PathBuf};

use bundle::Manifest;
use engine::{About, Act, Planned, Step, StepError, Undo};
use host::{Cmd, Host};

use super::{components::CURRENT, ids};
use nodekit::systemd;

/// Kubernetes' own images live here.
const NAMESPACE: &str = "k8s.io";

/// Imports what is not there.
pub(super) struct Images {
    about: About,
    /// The only one that is wanted.
    only: Option<String>,
}

/// What was found.
pub(super) struct Seen {
    /// Name and archive of each image that containerd does not have.
    missing: Vec<(String, PathBuf)>,
}

impl Images {
    /// Every one of the bundle.
    pub(super) fn all() -> Self {
        let about =
            About::new(ids::IMAGES, "Import the images of the bundle", "a node starts its pods without any registry");
        Self { about, only: None }
    }

    /// The one that every pod begins with. It is small, and the scheduler sends pods as soon as the node is Ready.
    pub(super) fn pause(name: &str) -> Self {
        let about =
            About::new(ids::PAUSE_IMAGE, "Import the image that pods begin with", "a Ready node is sent pods at once");
        Self { about, only: Some(name.to_owned()) }
    }
}

impl Step for Images {
    type Seen = Seen;
    type Undo = Imported;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let there = ctr(host, &["images", "list", "--quiet"]).await.map_err(StepError::retryable)?;
        let mut missing = installed_images(host)?;
        missing.retain(|(name, _)| self.only.as_ref().is_none_or(|only| only == name));
        missing.retain(|(name, _)| there.lines().all(|line| line.trim() != name));
        Ok(Seen { missing })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let import = |(name, _): &(String, PathBuf)| Planned::act(name.clone(), format!("import {name}"));
        Ok(seen.missing.iter().map(import).collect())
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        for (_, archive) in installed_images(host)?.iter().filter(|(name, _)| name == key) {
            ctr(host, &["images", "import", "--local", &archive.to_string_lossy()]).await?;
        }
        Ok(())
    }
}

/// How imported images are undone. Where containerd does not run they go with its data, and where that was there
/// before us, the next user of containerd can remove them.
pub(super) struct Imported;

impl Undo for Imported {
    const ONLY_LIVE: bool = true;

    fn shows_act(&self, key: &str) -> Option<String> {
        Some(format!("undo {key}"))
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        if !systemd::check(host, "containerd.service").await?.is_up() {
            return Ok(());
        }
        let there = ctr(host, &["images", "list", "--quiet"]).await?;
        if there.lines().any(|line| line.trim() == key) {
            ctr(host, &["images", "remove", key]).await?;
        }
        Ok(())
    }
}

pub(super) async fn ctr(host: &Host, arguments: &[&str]) -> Result<String, StepError> {
    let command = Cmd::new("ctr").args(["--namespace", NAMESPACE]).args(arguments.iter().copied());
    let printed = host.commands.run(&command).await.map_err(|error| StepError::from_explained(&error))?;
    Ok(printed.stdout)
}

/// Name and archive of every image in the installed bundle.
fn installed_images(host: &Host) -> Result<Vec<(String, PathBuf)>, StepError> {
    let Some(manifest) = installed(host)? else { return Ok(Vec::new()) };
    let archive =
        |entry: &bundle::Entry| Some((entry.image.clone()?, Path::new(CURRENT).join(&entry.files.first()?.path)));
    Ok(manifest.components.iter().filter_map(archive).collect())
}

/// The manifest of the bundle that is in use; `None` where none is installed.
pub fn installed(host: &Host) -> Result<Option<Manifest>, StepError> {
    let Some(text) = host.disk.read_optional(&Path::new(CURRENT).join(bundle::MANIFEST))? else { return Ok(None) };
    let manifest = serde_json::from_slice(&text);
    manifest.map(Some).map_err(|error| {
        StepError::new(bundle::codes::MANIFEST, format!("the manifest of the installed bundle cannot be read: {error}"))
    })
}
