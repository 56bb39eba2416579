//! Writes what the node is in the bootstrap, for people and scripts. The program itself never reads it.

use std::path::PathBuf;

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use spec::BootstrapRole;

use super::ids;
use nodekit::Layout;

/// `node-role` in the state directory: `master-first`, `master-additional` or `worker`.
pub struct NodeRole {
    path: PathBuf,
    role: BootstrapRole,
}

impl NodeRole {
    /// For a node of this role.
    pub fn new(role: BootstrapRole, layout: &Layout) -> Self {
        Self { path: layout.state_dir.join("node-role"), role }
    }
}

impl Step for NodeRole {
    type Seen = Vec<Change>;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::NODE_ROLE, "Note the node's role", "scripts and people ask what this node is in the bootstrap")
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Change>, StepError> {
        let content = Content::Plain(format!("{}\n", self.role).into_bytes());
        let wanted = vec![Change::File { path: self.path.clone(), mode: 0o644, content }];
        Ok(Change::missing(wanted, &*host.disk)?)
    }

    fn plan(&self, missing: &Vec<Change>) -> Result<Vec<Change>, StepError> {
        Ok(missing.clone())
    }
}
