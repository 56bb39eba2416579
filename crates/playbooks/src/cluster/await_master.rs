//! A master answers. Machines are switched on in any order, so this waits as long as it takes and reports for whom.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{About, FilesOnly, Step, StepError, Verdict};
use host::Host;
use join::{Credential, JoinError};

use super::ids;
use crate::membership::Membership;

/// Waits for a join service that can do something for this node.
pub(super) struct AwaitMaster {
    membership: Arc<Membership>,
    /// Written at the end of the join: a node that has it needs no join service any more.
    last_file: PathBuf,
}

/// What was found: nothing to wait for, or what is waited for and the number of this check.
pub(super) struct Seen(Option<(String, String)>);

impl AwaitMaster {
    pub(super) fn new(membership: &Arc<Membership>, kubernetes_dir: &Path) -> Self {
        Self { membership: membership.clone(), last_file: super::join::last_file(kubernetes_dir) }
    }
}

impl Step for AwaitMaster {
    type Seen = Seen;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::AWAIT_MASTER, "Wait for a master", "the cluster's certificates come from a master")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        if host.disk.exists(&self.last_file)? {
            return Ok(Seen(None));
        }
        let (credential, trust) = self.membership.credential(&*host.disk)?;
        let what = match self.membership.client(trust).await.hello(None).await {
            // A token is kept in the API; a node's own secret is known without it.
            Ok((master, hello)) if !hello.ready && matches!(credential, Credential::Token(_)) => {
                format!("the API of the cluster; the master at {master} reports that it is not ready yet")
            }
            Ok((master, hello)) if !hello.admits => {
                format!("the master at {master} to be part of the cluster, or another one to answer")
            }
            Ok(_) => return Ok(Seen(None)),
            Err(JoinError::Unreachable { tried }) => {
                let one = |unreached: &join::client::Unreached| {
                    format!(
                        "the master at {} to answer (since {:.0}: {})",
                        unreached.master, unreached.since, unreached.why
                    )
                };
                tried.iter().map(one).collect::<Vec<_>>().join(" or ")
            }
            Err(error) if error.is_retryable() => error.to_string(),
            Err(error) => return Err(StepError::from_explained(&error)),
        };
        // Time itself is progress here: another machine is switched on when a person switches it on.
        Ok(Seen(Some((what, host.clock.now().to_string()))))
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        match &seen.0 {
            Some((what, progress)) => Verdict::Waiting { what: what.clone(), progress: progress.clone() },
            None => Verdict::Met,
        }
    }
}
