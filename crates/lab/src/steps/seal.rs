//! The lab's configuration is sealed: one directory per machine, as on metal.

use std::sync::Arc;

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Host};
use join::seal::{self, Existing, Sources, Terms};

use super::ids;
use crate::{Lab, LabError};

pub(super) struct Seal {
    lab: Arc<Lab>,
}

impl Seal {
    pub(super) fn new(lab: &Arc<Lab>) -> Self {
        Self { lab: lab.clone() }
    }
}

impl Step for Seal {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::SEAL, "Seal the configuration", "every machine gets its own secret and the pin of the CA")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        let config = self.lab.config_dir();
        let out = self.lab.sealed_dir();
        let cluster = spec::check_dir(&config).cluster.ok_or_else(|| LabError::Config(config.clone()))?;
        // They never end: a lab may be taken up again after months, and its clocks are set as one likes.
        let explained = |error: seal::SealError| StepError::from_explained(&error);
        let sources = Sources::read(&*host.disk, &config, &cluster)?;
        let existing = Existing::read(&*host.disk, &out, &cluster).map_err(explained)?;
        let changes =
            seal::plan(&cluster, &sources, &existing, host.clock.now(), &Terms::default()).map_err(explained)?;
        Ok(Change::missing(changes, &*host.disk)?)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}
