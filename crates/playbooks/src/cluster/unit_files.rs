//! The unit files of a node's services are there, and systemd knows them: looked at once for all, because that takes long.

use std::path::{Path, PathBuf};

use engine::{About, Act, Notes, Planned, Step, StepError, Undo};
use host::{Change, Host};

use super::owned_resources;
use crate::service::{self, file};
use nodekit::{cleanup::tree::Own, systemd};

/// Where systemd looks for what is started at every boot.
const WANTED_BY: &str = "/etc/systemd/system/multi-user.target.wants";
const RELOAD: &str = "reload";

/// Writes units, lets systemd start them at every boot, and starts none of them now.
pub(super) struct UnitFiles {
    about: About,
    services: Vec<render::Service>,
}

/// What was found.
pub(super) struct Seen {
    /// What services whose units are new will make, and which is not there yet.
    owned: Vec<Planned>,
    missing: Vec<Change>,
    /// systemd may have read other files than there are.
    is_stale: bool,
}

impl UnitFiles {
    pub(super) fn new(about: About, services: impl IntoIterator<Item = render::Service>) -> Self {
        Self { about, services: services.into_iter().collect() }
    }

    fn names(&self) -> Vec<&str> {
        self.services.iter().map(|service| service.name).collect()
    }

    fn wanted(&self) -> Vec<Change> {
        let both = |service: &render::Service| [file(&service.unit_file()), enabling_link(service.name)];
        self.services.iter().flat_map(both).collect()
    }

    async fn owned(&self, host: &Host) -> Result<Vec<Planned>, StepError> {
        let mut owned: Vec<Planned> = Vec::new();
        for service in &self.services {
            if !host.disk.exists(&service.unit_file().path)? {
                let more = owned_resources::owned(host, service.name).await?;
                owned.extend(more.into_iter().filter(|one| !owned.contains(one)).collect::<Vec<_>>());
            }
        }
        Ok(owned)
    }
}

impl Step for UnitFiles {
    type Seen = Seen;
    type Undo = Installed;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let missing = Change::missing(self.wanted(), &*host.disk)?;
        let is_stale = host.is_live && (has_units(&missing) || systemd::is_stale(host, &self.names()).await?);
        Ok(Seen { owned: self.owned(host).await?, missing, is_stale })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let mut changes = seen.owned.clone();
        changes.extend(seen.missing.iter().cloned().map(Planned::File));
        if seen.is_stale {
            changes.push(Planned::act(RELOAD, "let systemd read what has changed"));
        }
        Ok(changes)
    }

    async fn act(&self, Act { key, .. }: &Act, host: &Host) -> Result<(), StepError> {
        // A reload takes long, and on a new machine systemd has nothing to forget.
        if key == RELOAD && systemd::is_stale(host, &self.names()).await? {
            systemd::systemctl(host, &["daemon-reload"]).await?;
        }
        Ok(())
    }
}

/// Lets systemd start a unit at every boot.
pub(super) fn enabling_link(unit: &str) -> Change {
    Change::Link { path: Path::new(WANTED_BY).join(unit), target: format!("../{unit}").into() }
}

fn has_units(missing: &[Change]) -> bool {
    missing.iter().any(|change| matches!(change, Change::File { .. }))
}

/// How units are undone: also those are stopped that systemd has started by itself, at a boot before the step that
/// would have started them.
pub(super) struct Installed {
    /// In the order in which they are stopped.
    pub(super) units: &'static [&'static str],
    /// What stays of the directories of services.
    pub(super) except: Vec<PathBuf>,
}

impl Undo for Installed {
    fn shows(&self) -> Vec<String> {
        vec!["stop what runs of its units, and let systemd forget them".to_owned()]
    }

    fn shows_act(&self, key: &str) -> Option<String> {
        owned_resources::shows(key)
    }

    fn keeps(&self, key: &str) -> bool {
        Own::from_key(key).is_some_and(|own| self.except.iter().any(|kept| kept.starts_with(&own.path)))
    }

    async fn before(&self, host: &Host) -> Result<Notes, StepError> {
        for unit in self.units.iter().filter(|_| host.is_live) {
            service::clear(host, unit).await?;
        }
        Ok(Notes::new())
    }

    async fn act(&self, key: &str, host: &Host) -> Result<(), StepError> {
        let except: Vec<&Path> = self.except.iter().map(PathBuf::as_path).collect();
        // What is no claim is the reload, which comes when the files are gone.
        owned_resources::release(host, key, &except).await.map(drop)
    }

    async fn after(&self, host: &Host) -> Result<(), StepError> {
        if host.is_live { systemd::systemctl(host, &["daemon-reload"]).await.map(drop) } else { Ok(()) }
    }
}
