//! The file that shows people and scripts that Ceph works on this node. The program itself never decides from it.

use std::path::PathBuf;

use ::ceph::paths;
use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use jiff::{Timestamp, Unit};

use super::ids;
use nodekit::Layout;

/// `ceph-bootstrapped` in the state directory.
pub(crate) struct Bootstrapped {
    file: PathBuf,
}

/// What was found.
pub(crate) struct Seen {
    is_noted: bool,
    now: Timestamp,
}

impl Bootstrapped {
    pub(crate) fn new(layout: &Layout) -> Self {
        Self { file: layout.state_dir.join("ceph-bootstrapped") }
    }
}

impl Step for Bootstrapped {
    type Seen = Seen;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::BOOTSTRAPPED, "Note that Ceph works", "scripts and people ask how far this node has come")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let is_early = paths::own_fsid(&*host.disk)?.is_none();
        Ok(Seen { is_noted: is_early || host.disk.exists(&self.file)?, now: host.clock.now() })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        if seen.is_noted {
            return Ok(Vec::new());
        }
        let now = seen.now.round(Unit::Second).unwrap_or(seen.now);
        let content = Content::Plain(format!("{now}\n").into_bytes());
        Ok(vec![Change::File { path: self.file.clone(), mode: 0o644, content }])
    }
}
