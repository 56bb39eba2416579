//! The member of this machine is out of etcd, which goes on with the masters.
//!
//! It lets a master lead before it goes; the masters hold their writes back meanwhile, so that none is on its way to a leader
//! that ends. They must have a majority without it, and the refusal shows the arithmetic. Its process ends by itself; only
//! then does the manifest go.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use engine::{About, Act, Planned, Stays, Step, StepError};
use etcd::{
    Access, Asked, EtcdError, MembershipLock,
    survey::{self, Agreed},
};
use host::Host;
use join::AgentCertificate;
use nodekit::Layout;
use operations::{
    handover::Handover,
    quorum::{self, Change},
};
use spec::{Node, ValidatedCluster, ports};
use tokio::time::{Instant, sleep};

use super::{super::ids, port, static_pod::manifest};
use crate::{codes, etcd_access::etcd_access};

/// Longer than a lock that a killed run left behind, and than etcd's own pause between two changes.
const DEADLINE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(300);

/// Takes the member out.
pub(super) struct EtcdLeft {
    cluster: ValidatedCluster,
    node: Node,
    /// Name and client URL, this machine's own last: after it has left it answers nothing.
    members: Vec<(String, String)>,
    kubernetes_dir: PathBuf,
}

/// What was found.
pub(super) struct Seen {
    is_member: bool,
    has_manifest: bool,
}

impl EtcdLeft {
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        let all = cluster.masters().chain([node]);
        Self {
            cluster: cluster.clone(),
            node: (*node).clone(),
            members: all.map(|master| (master.name.clone(), etcd::client_url(master.ip))).collect(),
            kubernetes_dir: layout.kubernetes_dir.clone(),
        }
    }

    async fn ask(&self, access: &Access) -> Result<Agreed, StepError> {
        let heard = survey::ask(access, self.members.iter().cloned()).await;
        Agreed::of(&heard).map_err(|why| StepError::new(etcd::codes::NO_MAJORITY, why).retryable())
    }

    /// A master leads. Where one does not hold its writes back, a write may fail and none is lost: that is no reason to stay.
    async fn lead_elsewhere(&self, host: &Host, access: &Access) -> Result<(), StepError> {
        let Some(handover) = Handover::away_from(&self.node, &self.cluster, access).await else { return Ok(()) };
        let (name, now) = (self.cluster.name(), host.clock.now());
        let signed = AgentCertificate::sign(&*host.disk, &self.kubernetes_dir, name, &self.node.name, now);
        let signed = signed.map_err(|error| StepError::from_explained(&error))?;
        let others = handover.others(&signed.ca, (&signed.certificate, &signed.key));
        let others = others.map_err(|error| StepError::from_explained(&error))?;
        if let Err(error) = handover.run(&others).await {
            host.doing(format!("etcd's lead is not handed over, and an election follows: {}", explain::chain(&error)));
        }
        Ok(())
    }

    fn own(&self, agreed: &Agreed) -> Option<u64> {
        agreed.member(&self.node.name, Some(&etcd::peer_url(self.node.ip))).map(|member| member.id)
    }

    /// One try.
    async fn leave(&self, host: &Host) -> Result<(), StepError> {
        let access = etcd_access(host, &self.kubernetes_dir)?;
        let agreed = self.ask(&access).await?;
        let Some(own) = self.own(&agreed) else { return Ok(()) };
        allowed(&agreed, own)?;
        self.lead_elsewhere(host, &access).await?;
        let Some(url) = agreed.speaker_besides(Some(own)) else { return Ok(()) };
        let etcd = access.member(url);
        let lock = match MembershipLock::ask(&etcd, &self.node.name).await.map_err(|error| failed(&error))? {
            Asked::Got(lock) => lock,
            Asked::HeldBy(holder) => {
                let message = format!("{holder} changes etcd's members at this moment");
                return Err(StepError::new(codes::MEMBERSHIP_BUSY, message).retryable());
            }
        };
        let removed = async {
            // What was seen before the lock was taken may be old.
            let agreed = self.ask(&access).await?;
            let Some(own) = self.own(&agreed) else { return Ok(()) };
            allowed(&agreed, own)?;
            etcd.remove(own).await.map_err(|error| failed(&error))
        };
        let removed = removed.await;
        lock.release().await;
        removed
    }
}

fn allowed(agreed: &Agreed, id: u64) -> Result<(), StepError> {
    quorum::allow(Change::Remove(id), &agreed.members, |id| agreed.is_healthy(id))
        .map_err(|refused| StepError::from_explained(&refused).retryable())
}

fn failed(error: &EtcdError) -> StepError {
    let is_passing = error.is_not_yet();
    let failed = StepError::from_explained(error);
    if is_passing { failed.retryable() } else { failed }
}

impl Step for EtcdLeft {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::ETCD_LEFT, "Leave etcd", "etcd counts with every member, also with one that never comes back")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let agreed = self.ask(&etcd_access(host, &self.kubernetes_dir)?).await?;
        Ok(Seen { is_member: self.own(&agreed).is_some(), has_manifest: host.disk.exists(&manifest("etcd"))? })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let what = "let a master lead etcd, and take this machine's member out";
        Ok((seen.is_member || seen.has_manifest).then(|| Planned::act("leave", what)).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let until = Instant::now() + DEADLINE;
        loop {
            match self.leave(host).await {
                Err(error) if error.is_retryable() && Instant::now() < until => {
                    host.doing(error.to_string());
                    sleep(PAUSE).await;
                }
                Err(error) => return Err(error),
                Ok(()) => break,
            }
        }
        host::remove_file(&*host.disk, &manifest("etcd"))?;
        port::until_closed("etcd", SocketAddr::new(self.node.ip, ports::ETCD_PEER)).await
    }
}
