//! Notes the number of this node's etcd member, for people and scripts. That there is a note shows the program that there
//! were data.

use std::path::PathBuf;

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Content, Host};
use tokio::sync::OnceCell;

use super::ids;
use crate::etcd_access::etcd_access;
use nodekit::Layout;

/// `etcd-member-id` in the state directory, written as etcdctl shows it.
pub(super) struct EtcdMember {
    path: PathBuf,
    kubernetes_dir: PathBuf,
    client: OnceCell<etcd::Etcd>,
}

impl EtcdMember {
    /// On this machine.
    pub(super) fn new(layout: &Layout) -> Self {
        Self { path: layout.etcd_member_id(), kubernetes_dir: layout.kubernetes_dir.clone(), client: OnceCell::new() }
    }
}

impl Step for EtcdMember {
    /// What is missing; `None` where there is no etcd to ask.
    type Seen = Option<Vec<Change>>;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::ETCD_MEMBER, "Note the etcd member's number", "repairing etcd by hand needs it")
    }

    async fn observe(&self, host: &Host) -> Result<Self::Seen, StepError> {
        if !host.disk.exists(&self.kubernetes_dir.join("pki/etcd"))? {
            return Ok(None);
        }
        let own = async || Ok::<_, StepError>(etcd_access(host, &self.kubernetes_dir)?.own());
        let client = self.client.get_or_try_init(own).await?;
        let status = match client.status().await {
            Ok(status) => status,
            Err(etcd::EtcdError::Unreachable { .. }) => return Ok(None),
            Err(error) => return Err(StepError::from_explained(&error).retryable()),
        };
        let content = Content::Plain(format!("{:x}\n", status.member_id()).into_bytes());
        let wanted = vec![Change::File { path: self.path.clone(), mode: 0o644, content }];
        Ok(Some(Change::missing(wanted, &*host.disk)?))
    }

    fn plan(&self, seen: &Self::Seen) -> Result<Vec<Change>, StepError> {
        Ok(seen.clone().unwrap_or_default())
    }
}
