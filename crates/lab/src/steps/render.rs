//! Every machine's Ignition config, from its sealed directory, as `blackstart ignition render` writes it.

use std::sync::Arc;

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use join::seal::Sources;
use playbooks::first_boot::FirstBoot;

use super::ids;
use crate::{Lab, LabError};

pub(super) struct Render {
    lab: Arc<Lab>,
}

impl Render {
    pub(super) fn new(lab: &Arc<Lab>) -> Self {
        Self { lab: lab.clone() }
    }
}

impl Step for Render {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::RENDER, "Render the Ignition configs", "each holds all that its machine is set up with")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        let (config, sealed, out) = (self.lab.config_dir(), self.lab.sealed_dir(), self.lab.ignition_dir());
        let cluster = spec::check_dir(&config).cluster.ok_or_else(|| LabError::Config(config.clone()))?;
        let first_boot = FirstBoot {
            cluster: &cluster,
            sources: &Sources::read(&*host.disk, &config, &cluster)?,
            sealed: &sealed,
            ssh_keys: &[],
            now: host.clock.now(),
        };
        let mut changes = vec![Change::Directory { path: out.clone(), mode: 0o700 }];
        for node in cluster.machines() {
            let path = out.join(format!("{}.ign", node.name));
            let present = host.disk.read_optional(&path)?;
            let config = first_boot.config(&*host.disk, node, present.as_deref());
            let (_, rendered) = config.map_err(|error| StepError::from_explained(&error))?;
            changes.push(Change::File { path, mode: 0o600, content: Content::Secret(rendered.bytes) });
        }
        Ok(Change::missing(changes, &*host.disk)?)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}
