//! ceph.conf says what cluster.yaml says.

use std::path::Path;

use ::ceph::{Fsid, codes, paths};
use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use spec::{Ceph, ValidatedCluster};

use super::ids;

/// The configuration.
pub(crate) struct Conf {
    cluster: ValidatedCluster,
    settings: Ceph,
    has_own_disk: bool,
}

/// What was found.
pub(crate) struct Seen {
    /// `None` before this node has its keys, and in an image.
    ours: Option<Fsid>,
    /// Which cluster the file names now.
    named: Option<Fsid>,
    missing: Vec<Change>,
}

impl Conf {
    pub(crate) fn new(cluster: &ValidatedCluster, settings: &Ceph, has_own_disk: bool) -> Self {
        Self { cluster: cluster.clone(), settings: settings.clone(), has_own_disk }
    }

    fn wanted(&self, fsid: &Fsid) -> Change {
        let text = ::ceph::conf(&self.cluster, &self.settings, fsid, self.has_own_disk);
        Change::File { path: paths::CONF.into(), mode: 0o644, content: Content::Plain(text.into_bytes()) }
    }
}

impl Step for Conf {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::CONF, "Configure Ceph", "daemons and clients find the monitors by it")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let disk = &*host.disk;
        let ours = paths::own_fsid(disk)?;
        let text = disk.read_optional(Path::new(paths::CONF))?.unwrap_or_default();
        let wanted = ours.iter().map(|fsid| self.wanted(fsid)).collect();
        let named = paths::fsid_of_conf(&String::from_utf8_lossy(&text));
        Ok(Seen { missing: Change::missing(wanted, disk)?, named, ours })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        match (&seen.ours, &seen.named) {
            (Some(ours), Some(other)) if ours != other => {
                let message = format!(
                    "this node belongs to the Ceph cluster {ours}, and {} names the cluster {other}",
                    paths::CONF
                );
                Err(StepError::new(codes::OTHER_CLUSTER, message))
            }
            _ => Ok(seen.missing.clone()),
        }
    }
}
