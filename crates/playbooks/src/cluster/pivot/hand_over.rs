//! From here on the masters take over. The decision is a file, synced before anything is given up.

use std::path::PathBuf;

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use nodekit::Layout;
use spec::ValidatedCluster;

use super::super::ids;

/// Where the decision is.
pub(super) fn decision(layout: &Layout) -> PathBuf {
    layout.state_dir.join("hand-over")
}

/// Decides.
pub(super) struct HandOver {
    decision: PathBuf,
    masters: String,
}

impl HandOver {
    pub(super) fn new(cluster: &ValidatedCluster, layout: &Layout) -> Self {
        let masters: Vec<&str> = cluster.masters().map(|master| master.name.as_str()).collect();
        Self { decision: decision(layout), masters: masters.join(" ") }
    }
}

impl Step for HandOver {
    type Seen = bool;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(
            ids::HAND_OVER,
            "Hand the control plane over",
            "what is given up from here on is never started again",
        )
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(host.disk.exists(&self.decision)?)
    }

    fn plan(&self, is_decided: &bool) -> Result<Vec<Change>, StepError> {
        let content = Content::Plain(format!("to {}\n", self.masters).into_bytes());
        let file = Change::File { path: self.decision.clone(), mode: 0o644, content };
        Ok(if *is_decided { Vec::new() } else { vec![file] })
    }
}
