//! The node's configuration directory is on the machine, for root's eyes only: it may hold secrets.

use std::{
    fs,
    path::{Path, PathBuf},
};

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host, HostError};

use super::ids;
use nodekit::Layout;

/// A copy of a sealed directory, or of a plain one.
pub(super) struct Configuration {
    from: PathBuf,
    to: PathBuf,
}

impl Configuration {
    /// From this directory of the computer that runs the playbook.
    pub(super) fn new(from: &Path, layout: &Layout) -> Self {
        Self { from: from.to_path_buf(), to: layout.config_dir.clone() }
    }

    pub(super) fn wanted(&self) -> Result<Vec<Change>, HostError> {
        let mut changes = vec![Change::Directory { path: self.to.clone(), mode: 0o700 }];
        let mut open = vec![PathBuf::new()];
        while let Some(below) = open.pop() {
            let dir = self.from.join(&below);
            let failed = |doing, path: &Path| {
                let path = path.to_path_buf();
                move |source| HostError { doing, path, source }
            };
            let entries = fs::read_dir(&dir).map_err(failed("list", &dir))?;
            let mut entries = entries.collect::<Result<Vec<_>, _>>().map_err(failed("list", &dir))?;
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let (path, below) = (entry.path(), below.join(entry.file_name()));
                if entry.file_type().map_err(failed("stat", &path))?.is_dir() {
                    changes.push(Change::Directory { path: self.to.join(&below), mode: 0o700 });
                    open.push(below);
                } else {
                    let content = Content::Secret(fs::read(&path).map_err(failed("read", &path))?);
                    changes.push(Change::File { path: self.to.join(&below), mode: 0o600, content });
                }
            }
        }
        Ok(changes)
    }
}

impl Step for Configuration {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::CONFIGURATION, "Install the configuration", "a node finds everything about its cluster there")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        Ok(Change::missing(self.wanted()?, &*host.disk)?)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}
