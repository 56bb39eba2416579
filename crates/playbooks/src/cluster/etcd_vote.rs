//! This master's etcd member has a vote. One that joined a running etcd gets it when it has received everything.

use std::path::PathBuf;

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use etcd::Etcd;
use host::Host;
use operations::quorum::{self, Change as Membership};
use spec::{Node, ValidatedCluster};

use super::ids;
use crate::etcd_access::etcd_access;
use nodekit::Layout;

/// Gives this master's member its vote.
pub(super) struct EtcdVote {
    peer_url: String,
    /// Client URLs of the other masters.
    others: Vec<String>,
    kubernetes_dir: PathBuf,
}

/// What was found.
pub(super) enum Seen {
    /// It has one, or nothing can be asked.
    Has,
    /// It has caught up, as far as can be told.
    May(u64),
    /// Not yet.
    NotYet(String),
}

impl EtcdVote {
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        let others = cluster.control_plane().filter(|master| master.name != node.name);
        Self {
            peer_url: etcd::peer_url(node.ip),
            others: others.map(|master| etcd::client_url(master.ip)).collect(),
            kubernetes_dir: layout.kubernetes_dir.clone(),
        }
    }

    /// A learner itself answers nothing of this.
    async fn check(&self, host: &Host) -> Result<(Seen, Option<Etcd>), StepError> {
        let access = etcd_access(host, &self.kubernetes_dir)?;
        let others = self.others.iter().map(|url| access.member(url));
        let mut why = Vec::new();
        for etcd in [access.own()].into_iter().chain(others) {
            let members = match etcd.members().await {
                Ok(members) => members,
                Err(error) => {
                    why.push(explain::chain(&error));
                    continue;
                }
            };
            let Some(member) = members.iter().find(|member| member.peer_urls.contains(&self.peer_url)) else {
                let text = "this master's member was removed from etcd".to_owned();
                return Ok((Seen::NotYet(text), None));
            };
            if !member.is_learner {
                return Ok((Seen::Has, None));
            }
            // A voter answered this question, so there is a majority; whether it stays one with this member is etcd's
            // own check, which asks the member itself how far it is.
            let allowed = quorum::allow(Membership::Promote(member.id), &members, |_| true);
            return Ok(match allowed {
                Ok(()) => (Seen::May(member.id), Some(etcd)),
                Err(refused) => (Seen::NotYet(refused.to_string()), None),
            });
        }
        Ok((Seen::NotYet(format!("an etcd member with a vote to answer ({})", why.join("; "))), None))
    }
}

impl Step for EtcdVote {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::ETCD_VOTE, "Get a vote in etcd", "only members with a vote keep the cluster alive")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        if self.others.is_empty() {
            return Ok(Seen::Has);
        }
        Ok(self.check(host).await?.0)
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let Seen::May(id) = seen else { return Ok(Vec::new()) };
        Ok(vec![Planned::act("vote", format!("give etcd's member {id:x} a vote"))])
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        match seen {
            Seen::NotYet(what) => Verdict::Waiting { what: what.clone(), progress: what.clone() },
            Seen::Has | Seen::May(_) => Verdict::Met,
        }
    }

    /// etcd refuses while the member has not received everything: then it is tried again.
    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let (Seen::May(id), Some(etcd)) = self.check(host).await? else { return Ok(()) };
        match etcd.promote(id).await {
            Ok(()) => Ok(()),
            Err(error) => {
                let is_passing = error.is_not_yet();
                let failed = StepError::from_explained(&error);
                Err(if is_passing { failed.retryable() } else { failed })
            }
        }
    }
}
