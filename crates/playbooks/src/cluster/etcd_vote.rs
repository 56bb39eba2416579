//! This master's etcd member has a vote. One that joined a running etcd gets it when it has received everything.
//!
//! Where a bootstrap node is the only voter, the first two masters get their votes together: with two voters etcd would stop
//! with either of them, and with one it stops only with the bootstrap node. Before that they give the others a moment to be announced: for
//! five seconds after a vote etcd refuses to announce a member.
//!
//! A member with a vote does not need to know how it started: what names the bootstrap node goes then. The act writes that file itself,
//! because what the engine writes it also restores, and no reset may bring the bootstrap node back into it.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, Instant},
};

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use etcd::{Access, Etcd, Initial, Member};
use host::Host;
use operations::quorum::{self, Change as Membership};
use spec::{Node, ValidatedCluster};

use super::{ids, split_brain};
use crate::etcd_access::etcd_access;
use nodekit::Layout;

/// No longer than etcd would refuse to announce another one.
const GATHERING: Duration = Duration::from_secs(5);

/// Gives this master's member its vote.
pub(super) struct EtcdVote {
    peer_url: String,
    /// Client URLs of the other masters.
    others: Vec<String>,
    /// Peer URL of the bootstrap node.
    bootstrap: Option<String>,
    /// How many follow it: while the bootstrap node is the only voter, the first vote of several is not given alone.
    masters: usize,
    /// Since when the first two could have their votes.
    pair_since: OnceLock<Instant>,
    kubernetes_dir: PathBuf,
}

/// What was found.
pub(super) enum Seen {
    /// It has one, or nothing can be asked.
    Has,
    /// It has one, and what it started with still names the bootstrap node.
    Remembers(Initial),
    /// It has caught up, as far as can be seen; and with it another one.
    May { own: u64, partner: Option<u64> },
    /// Not yet.
    NotYet(String),
    /// Not before another master comes, which a person switches on: every check is progress.
    Alone { moment: String },
}

impl EtcdVote {
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        let others = cluster.control_plane().filter(|master| master.name != node.name);
        Self {
            peer_url: etcd::peer_url(node.ip),
            others: others.map(|master| etcd::client_url(master.ip)).collect(),
            bootstrap: cluster.bootstrap_node().map(|bootstrap| etcd::peer_url(bootstrap.ip)),
            masters: cluster.masters().count(),
            pair_since: OnceLock::new(),
            kubernetes_dir: layout.kubernetes_dir.clone(),
        }
    }

    /// Only the bootstrap node has a vote. Where a master was restored from a backup, it may be the only one that ever comes.
    fn waits_for_partner(&self, members: &[Member]) -> bool {
        let mut voters = members.iter().filter(|member| !member.is_learner);
        let (first, second) = (voters.next(), voters.next());
        let is_bootstrap = |member: &Member| self.bootstrap.as_ref().is_some_and(|url| member.peer_urls.contains(url));
        self.masters > 1 && second.is_none() && first.is_some_and(is_bootstrap)
    }

    /// What a member started with does not name the bootstrap node any more.
    fn forget(&self, host: &Host) -> Result<(), StepError> {
        if let Seen::Remembers(initial) = self.has(host)? {
            for change in split_brain::decided(&initial) {
                change.apply(&*host.disk)?;
            }
        }
        Ok(())
    }

    fn has(&self, host: &Host) -> Result<Seen, StepError> {
        let Some(bootstrap) = &self.bootstrap else { return Ok(Seen::Has) };
        let text = host.disk.read_optional(Path::new(etcd::INITIAL))?.unwrap_or_default();
        let initial = Initial::parse(&String::from_utf8_lossy(&text));
        Ok(initial.and_then(|initial| without(initial, bootstrap)).map_or(Seen::Has, Seen::Remembers))
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
                return Ok((self.has(host)?, None));
            }
            // A voter answered this question, so there is a majority; whether it stays one with this member is etcd's
            // own check, which asks the member itself how far it is.
            let allowed = quorum::allow(Membership::Promote(member.id), &members, |_| true);
            if let Err(refused) = allowed {
                return Ok((Seen::NotYet(refused.to_string()), None));
            }
            let own = member.id;
            if !self.waits_for_partner(&members) {
                return Ok((Seen::May { own, partner: None }, Some(etcd)));
            }
            let Some(partner) = partner(&access, &etcd, &members, own).await else {
                return Ok((Seen::Alone { moment: host.clock.now().to_string() }, None));
            };
            let learners = members.iter().filter(|member| member.is_learner).count();
            if learners < self.masters && self.pair_since.get_or_init(Instant::now).elapsed() < GATHERING {
                return Ok((Seen::NotYet("the other masters to be announced to etcd".to_owned()), None));
            }
            return Ok((Seen::May { own, partner: Some(partner) }, Some(etcd)));
        }
        Ok((Seen::NotYet(format!("an etcd member with a vote to answer ({})", why.join("; "))), None))
    }
}

/// What a member started with, without the one at this peer URL; `None` where that is not named.
fn without(mut initial: Initial, peer_url: &str) -> Option<Initial> {
    let before = initial.members.len();
    initial.members.retain(|_, url| url != peer_url);
    (initial.members.len() < before).then_some(initial)
}

/// Another learner that has caught up.
async fn partner(access: &Access, voter: &Etcd, members: &[Member], own: u64) -> Option<u64> {
    let wanted = voter.status().await.ok()?.raft_index;
    for member in members.iter().filter(|member| member.is_learner && member.id != own) {
        let Some(url) = member.client_urls.first() else { continue };
        if let Ok(status) = access.member(url).status().await
            && has_caught_up(status.raft_index, wanted)
        {
            return Some(member.id);
        }
    }
    None
}

/// As etcd itself sees it: nine tenths of the way.
fn has_caught_up(index: u64, wanted: u64) -> bool {
    index.saturating_mul(10) >= wanted.saturating_mul(9)
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
        let (own, partner) = match seen {
            Seen::May { own, partner } => (own, partner),
            Seen::Remembers(_) => {
                let what = format!("take the bootstrap node out of {}", etcd::INITIAL);
                return Ok(vec![Planned::act("forget", what)]);
            }
            _ => return Ok(Vec::new()),
        };
        let with = partner.map(|partner| format!(", and right after it {partner:x}")).unwrap_or_default();
        Ok(vec![Planned::act("vote", format!("give etcd's member {own:x} a vote{with}"))])
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        match seen {
            Seen::NotYet(what) => Verdict::Waiting { what: what.clone(), progress: what.clone() },
            Seen::Alone { moment } => {
                let what = "another master's etcd to catch up: the first two get their votes together".to_owned();
                Verdict::Waiting { what, progress: moment.clone() }
            }
            Seen::Has | Seen::Remembers(_) | Seen::May { .. } => Verdict::Met,
        }
    }

    /// etcd refuses while the member has not received everything: then it is tried again.
    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let (Seen::May { own, partner }, Some(etcd)) = self.check(host).await? else { return self.forget(host) };
        match etcd.promote(own).await {
            Ok(()) => {
                // If it is refused, or was quicker, its own machine sees to it: that is worth a message, and no failure.
                if let Some(partner) = partner
                    && let Err(error) = etcd.promote(partner).await
                {
                    host.doing(format!(
                        "member {partner:x} gets its vote from its own machine: {}",
                        explain::chain(&error)
                    ));
                }
                self.forget(host)
            }
            // The other one of a pair has given it.
            Err(_) if matches!(self.check(host).await?.0, Seen::Has | Seen::Remembers(_)) => self.forget(host),
            Err(error) => {
                let is_passing = error.is_not_yet();
                let failed = StepError::from_explained(&error);
                Err(if is_passing { failed.retryable() } else { failed })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_member_started_with_forgets_the_bootstrap_node_once() {
        let members =
            |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), format!("https://{name}:2380"))).collect();
        let began = Initial::joining(members(&["bootstrap", "master-01", "master-02"]));
        let forgotten = without(began, "https://bootstrap:2380").unwrap();
        assert_eq!(forgotten, Initial::joining(members(&["master-01", "master-02"])));
        assert_eq!(without(forgotten, "https://bootstrap:2380"), None);
    }
}
