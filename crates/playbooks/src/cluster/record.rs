//! The files that show people and scripts how far this node has come. The program itself never decides from them.

use std::path::PathBuf;

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use jiff::{Timestamp, Unit};
use spec::BootstrapRole;

use super::ids;
use nodekit::Layout;

/// `bootstrap-state`, `cluster-joined` and, on the master that started the cluster, `cluster-initialized-by`.
pub(super) struct Record {
    state_dir: PathBuf,
    node: String,
    role: BootstrapRole,
}

/// What was found.
pub(super) struct Seen {
    missing: Vec<Change>,
    was_joined: bool,
    now: Timestamp,
}

impl Record {
    /// For a node of this role.
    pub(super) fn new(node: &str, role: BootstrapRole, layout: &Layout) -> Self {
        Self { state_dir: layout.state_dir.clone(), node: node.to_owned(), role }
    }

    fn file(&self, name: &str, text: &str) -> Change {
        let content = Content::Plain(format!("{text}\n").into_bytes());
        Change::File { path: self.state_dir.join(name), mode: 0o644, content }
    }
}

impl Step for Record {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::RECORD, "Note that the node has joined", "scripts and people ask how far this node has come")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let is_first = self.role == BootstrapRole::MasterFirst;
        let mut wanted = vec![self.file("bootstrap-state", if is_first { "bootstrapped" } else { "joined" })];
        if is_first {
            wanted.push(self.file("cluster-initialized-by", &self.node));
        }
        Ok(Seen {
            missing: Change::missing(wanted, &*host.disk)?,
            was_joined: host.disk.exists(&self.state_dir.join("cluster-joined"))?,
            now: host.clock.now(),
        })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        let mut changes = seen.missing.clone();
        if !seen.was_joined {
            let now = seen.now.round(Unit::Second).unwrap_or(seen.now);
            changes.push(self.file("cluster-joined", &now.to_string()));
        }
        Ok(changes)
    }
}
