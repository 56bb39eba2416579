//! This program is where the units look for it.

use std::path::{Path, PathBuf};

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Host};

use super::ids;

pub(super) const TARGET: &str = "/usr/local/bin/blackstart";

/// A copy of the program that runs now.
pub(super) struct Program {
    from: PathBuf,
}

impl Program {
    /// From this file.
    pub(super) fn new(from: &Path) -> Self {
        Self { from: from.to_path_buf() }
    }
}

impl Step for Program {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::PROGRAM, "Install this program", "the units run it at every boot")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        let copy = Change::Copy { path: TARGET.into(), mode: 0o755, from: self.from.clone() };
        // A link, or a mount from elsewhere, is the operator's own choice.
        if host.is_live && self.from == Path::new(TARGET) {
            return Ok(Vec::new());
        }
        Ok(Change::missing(vec![copy], &*host.disk)?)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}
