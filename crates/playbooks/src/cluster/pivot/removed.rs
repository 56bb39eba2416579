//! A bootstrap node that comes back after a master has removed it hands over what it has left, and starts nothing again.
//!
//! Its member is not among those that the masters' etcd agrees on, and it has data: so it was one.

use std::path::{Path, PathBuf};

use engine::{About, FilesOnly, Step, StepError};
use etcd::survey::{self, Agreed};
use host::{Change, Host};
use nodekit::Layout;
use spec::{Node, ValidatedCluster};

use super::{super::ids, hand_over::HandOver};
use crate::etcd_access::etcd_access;

/// Decides to hand over where it is too late to ask.
pub(super) struct Removed {
    hand_over: HandOver,
    node: String,
    peer_url: String,
    /// Name and client URL.
    masters: Vec<(String, String)>,
    kubernetes_dir: PathBuf,
}

impl Removed {
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        Self {
            hand_over: HandOver::new(cluster, layout),
            node: node.name.clone(),
            peer_url: etcd::peer_url(node.ip),
            masters: cluster.masters().map(|master| (master.name.clone(), etcd::client_url(master.ip))).collect(),
            kubernetes_dir: layout.kubernetes_dir.clone(),
        }
    }

    /// Where the masters have no majority, or cannot be asked, no master has removed it.
    async fn is_removed(&self, host: &Host) -> Result<bool, StepError> {
        if !host.disk.exists(Path::new(etcd::LOG))? {
            return Ok(false);
        }
        let Ok(access) = etcd_access(host, &self.kubernetes_dir) else { return Ok(false) };
        let heard = survey::ask(&access, self.masters.iter().cloned()).await;
        Ok(Agreed::of(&heard).is_ok_and(|agreed| agreed.member(&self.node, Some(&self.peer_url)).is_none()))
    }
}

impl Step for Removed {
    /// Whether it was, and that is not decided yet.
    type Seen = bool;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(
            ids::REMOVED,
            "Find out whether a master has removed this machine",
            "the cluster goes on without it, and nothing of it may come back",
        )
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(!self.hand_over.observe(host).await? && self.is_removed(host).await?)
    }

    fn plan(&self, is_removed: &bool) -> Result<Vec<Change>, StepError> {
        if *is_removed { self.hand_over.plan(&false) } else { Ok(Vec::new()) }
    }
}
