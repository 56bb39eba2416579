//! The unit files of a node's services are there, and systemd knows them: looked at once for all, because that takes long.

use std::path::Path;

use engine::{About, Step, StepError};
use host::{Change, Host};

use crate::{service::file, systemd};

const WANTED_BY: &str = "/etc/systemd/system/multi-user.target.wants";
const RELOAD: &str = "reload";

/// Writes units, lets systemd start them at every boot, and starts none of them now.
pub(super) struct UnitFiles {
    about: About,
    services: Vec<render::Service>,
}

/// What was found.
pub(super) struct Seen {
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
        let both = |service: &render::Service| {
            let name = service.name;
            let link = Change::Link { path: Path::new(WANTED_BY).join(name), target: format!("../{name}").into() };
            [file(&service.unit_file()), link]
        };
        self.services.iter().flat_map(both).collect()
    }
}

impl Step for UnitFiles {
    type Seen = Seen;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let missing = Change::missing(self.wanted(), &*host.disk)?;
        let is_stale = host.is_live && (has_units(&missing) || systemd::is_stale(host, &self.names()).await?);
        Ok(Seen { missing, is_stale })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        let mut changes = seen.missing.clone();
        if seen.is_stale {
            changes.push(Change::Act { key: RELOAD.into(), what: "let systemd read what has changed".into() });
        }
        Ok(changes)
    }

    async fn apply(&self, change: &Change, host: &Host) -> Result<(), StepError> {
        let Change::Act { .. } = change else { return Ok(change.apply(&*host.disk)?) };
        // It takes long, and on a new machine systemd has nothing to forget.
        if systemd::is_stale(host, &self.names()).await? {
            systemd::systemctl(host, &["daemon-reload"]).await?;
        }
        Ok(())
    }

    async fn undo(&self, _key: &str, host: &Host) -> Result<(), StepError> {
        if host.is_live { systemd::systemctl(host, &["daemon-reload"]).await.map(drop) } else { Ok(()) }
    }
}

fn has_units(missing: &[Change]) -> bool {
    missing.iter().any(|change| matches!(change, Change::File { .. }))
}
