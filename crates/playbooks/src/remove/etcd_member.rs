//! On a master: its etcd member goes, if the others keep a majority without it.
//!
//! The change is decided on what is seen under the lock, so two removals at the same time cannot both count with the member
//! that the other one takes out.

use std::{path::PathBuf, time::Duration};

use engine::{About, Act, Planned, Stays, Step, StepError};
use etcd::{
    Access, Asked, EtcdError, Member, MembershipLock,
    survey::{self, Agreed},
};
use host::Host;
use operations::quorum::{self, Change as Membership};
use tokio::time::{Instant, sleep};

use super::{Removal, Target, ids};
use crate::{codes, etcd_access::etcd_access};

/// Longer than a lock that a killed run left behind lasts, and than etcd's own pause between two changes.
const DEADLINE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(500);

/// Takes the node's member out of etcd.
pub(super) struct EtcdMember {
    target: Target,
    /// Name and client URL of all masters; the one that this runs on comes first.
    masters: Vec<(String, String)>,
    kubernetes_dir: PathBuf,
    /// Under which the lock is held.
    owner: String,
}

impl EtcdMember {
    pub(super) fn new(removal: &Removal<'_>, target: &Target) -> Self {
        let (own, others): (Vec<_>, Vec<_>) = removal.cluster.masters().partition(|master| master.name == removal.from);
        let all = own.into_iter().chain(others);
        Self {
            target: target.clone(),
            masters: all.map(|master| (master.name.clone(), etcd::client_url(master.ip))).collect(),
            kubernetes_dir: removal.layout.kubernetes_dir.clone(),
            owner: format!("`node remove {}` on {}", removal.node, removal.from),
        }
    }

    fn access(&self, host: &Host) -> Result<Access, StepError> {
        etcd_access(host, &self.kubernetes_dir)
    }

    async fn check(&self, access: &Access) -> Result<Agreed, StepError> {
        let heard = survey::ask(access, self.masters.iter().cloned()).await;
        Agreed::of(&heard).map_err(|why| StepError::new(etcd::codes::NO_MAJORITY, why).retryable())
    }

    fn member<'a>(&self, agreed: &'a Agreed) -> Option<&'a Member> {
        agreed.member(&self.target.name, self.target.ip.map(etcd::peer_url).as_deref())
    }

    /// One try, under the lock.
    async fn remove(&self, host: &Host) -> Result<(), StepError> {
        let access = self.access(host)?;
        let agreed = self.check(&access).await?;
        let Some(member) = self.member(&agreed) else { return Ok(()) };
        let id = member.id;
        // The last member has no other to ask; the arithmetic refuses its removal.
        allowed(&agreed, id)?;
        let Some(url) = agreed.speaker_besides(Some(id)) else { return Ok(()) };
        let etcd = access.member(url);
        let lock = match MembershipLock::ask(&etcd, &self.owner).await.map_err(|error| failed(&error))? {
            Asked::Got(lock) => lock,
            Asked::HeldBy(holder) => {
                let message = format!("{holder} changes etcd's members at this moment");
                return Err(StepError::new(codes::MEMBERSHIP_BUSY, message).retryable());
            }
        };
        let removed = async {
            // What was seen before the lock was taken may be old.
            let agreed = self.check(&access).await?;
            if self.member(&agreed).is_none_or(|member| member.id != id) {
                return Ok(());
            }
            allowed(&agreed, id)?;
            etcd.remove(id).await.map_err(|error| failed(&error))
        };
        let removed = removed.await;
        lock.release().await;
        removed
    }
}

fn allowed(agreed: &Agreed, id: u64) -> Result<(), StepError> {
    quorum::allow(Membership::Remove(id), &agreed.members, |id| agreed.is_healthy(id))
        .map_err(|refused| StepError::from_explained(&refused))
}

fn failed(error: &EtcdError) -> StepError {
    let is_passing = error.is_not_yet();
    let failed = StepError::from_explained(error);
    if is_passing { failed.retryable() } else { failed }
}

impl Step for EtcdMember {
    type Seen = Agreed;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(
            ids::ETCD_MEMBER,
            "Take its member out of etcd",
            "etcd counts with every member, also with one that never comes back",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Agreed, StepError> {
        self.check(&self.access(host)?).await
    }

    fn plan(&self, agreed: &Agreed) -> Result<Vec<Planned>, StepError> {
        let Some(member) = self.member(agreed) else { return Ok(Vec::new()) };
        allowed(agreed, member.id)?;
        let what = format!("take the member {:x} of {} out of etcd", member.id, self.target.name);
        Ok(vec![Planned::act("remove", what)])
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let until = Instant::now() + DEADLINE;
        loop {
            match self.remove(host).await {
                Err(error) if error.is_retryable() && Instant::now() < until => {
                    host.doing(error.to_string());
                    sleep(PAUSE).await;
                }
                ended => return ended,
            }
        }
    }
}
