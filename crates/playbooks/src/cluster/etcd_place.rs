//! A master that was not there when etcd was founded takes a place in it, without a vote at first.
//!
//! Certificates, unit and program are in place before the others hear of the new member: from then on they count with it.
//! The change is made under a lock, and whoever was killed in the middle goes on where it was: an announced member that
//! never started is this master's own. One that did start had data, and this master has none: it is removed and comes in
//! anew, because a member must not forget what it has voted for.

mod next;

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use engine::{About, Step, StepError, Verdict};
use etcd::{Access, Etcd, Initial, Lease, Lock, Member, survey};
use host::{Change, Host};
use spec::{Node, ValidatedCluster};
use tokio::time::{Instant, sleep};

pub(super) use self::next::Next;
use super::fence;
use crate::{Layout, codes};

/// Who holds it may change the membership.
const LOCK: &str = "blackstart/membership";
/// A change takes a moment; whoever is killed in the middle keeps others waiting for so long.
const HELD: Duration = Duration::from_secs(30);
/// etcd itself refuses a change for some seconds after another one.
const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(300);

/// Takes this master's place.
pub(super) struct EtcdPlace {
    node: String,
    peer_url: String,
    /// Name and client URL of the other masters.
    others: Vec<(String, String)>,
    kubernetes_dir: PathBuf,
}

/// etcd as the others see it.
struct Others {
    etcd: Etcd,
    members: Vec<Member>,
    healthy: Vec<u64>,
}

/// What was found.
pub(super) enum Seen {
    /// It is decided what this member starts with.
    Decided,
    /// There is something to be done.
    Due(Next),
}

impl EtcdPlace {
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        let others = cluster.masters().filter(|master| master.name != node.name);
        let url = |ip: IpAddr| etcd::client_url(ip);
        Self {
            node: node.name.clone(),
            peer_url: etcd::peer_url(node.ip),
            others: others.map(|master| (master.name.clone(), url(master.ip))).collect(),
            kubernetes_dir: layout.kubernetes_dir.clone(),
        }
    }

    async fn look(&self, host: &Host) -> Result<Result<Others, String>, StepError> {
        let access =
            Access::read(&*host.disk, &self.kubernetes_dir).map_err(|error| StepError::from_explained(&error))?;
        let heard = survey::ask(&access, self.others.iter().cloned()).await;
        let answer = heard.iter().find_map(|one| {
            let agreed = one.told.as_ref().ok()?.agreed.clone()?;
            Some((one.url.clone(), agreed))
        });
        let Some((url, members)) = answer else {
            let why = |one: &survey::Heard| match &one.told {
                Ok(_) => format!("{} answers without a majority", one.name),
                Err(why) => format!("{}: {why}", one.name),
            };
            return Ok(Err(heard.iter().map(why).collect::<Vec<_>>().join("; ")));
        };
        let healthy = heard.iter().filter_map(|one| one.told.as_ref().ok());
        let healthy =
            healthy.filter(|told| told.status.errors.is_empty()).map(|told| told.status.member_id()).collect();
        Ok(Ok(Others { etcd: access.member(url), members, healthy }))
    }

    fn next(&self, others: &Result<Others, String>) -> Next {
        match others {
            Ok(others) => next::next(&self.node, &self.peer_url, &others.members, &others.healthy),
            Err(why) => Next::Wait(format!("a majority of etcd's members to answer ({why})")),
        }
    }

    /// What is to be done, one thing after the other, each decided on what is there now.
    async fn take(&self, host: &Host) -> Result<(), StepError> {
        let until = Instant::now() + PATIENCE;
        let mut held: Option<(Etcd, Lease)> = None;
        let outcome = loop {
            match self.one(host, &mut held).await {
                Ok(true) => break Ok(()),
                Ok(false) => {}
                Err(error) if error.is_retryable() && Instant::now() < until => {
                    host.doing(error.to_string());
                    sleep(PAUSE).await;
                }
                Err(error) => break Err(error),
            }
        };
        if let Some((etcd, lease)) = held {
            // One that cannot be given back ends by itself.
            let _ended_anyway = etcd.revoke(lease).await;
        }
        outcome
    }

    /// One change; true if it was the last.
    async fn one(&self, host: &Host, held: &mut Option<(Etcd, Lease)>) -> Result<bool, StepError> {
        let failed = |error: etcd::EtcdError| {
            let is_passing = error.is_not_yet();
            let failed = StepError::from_explained(&error);
            if is_passing { failed.retryable() } else { failed }
        };
        let others = match self.look(host).await? {
            Ok(others) => others,
            Err(why) => {
                let message = format!("etcd's members do not answer: {why}");
                return Err(StepError::new(codes::NO_PLACE, message).retryable());
            }
        };
        if held.is_none() {
            let lease = others.etcd.grant(HELD).await.map_err(failed)?;
            *held = Some((others.etcd.clone(), lease));
            if let Lock::HeldBy(holder) = others.etcd.lock(LOCK, &self.node, lease).await.map_err(failed)? {
                *held = None;
                let message = format!("{holder} changes etcd's members at this moment");
                return Err(StepError::new(codes::NO_PLACE, message).retryable());
            }
            // What was seen before the lock was taken may be old.
            return Ok(false);
        }
        match next::next(&self.node, &self.peer_url, &others.members, &others.healthy) {
            Next::Start(members) => {
                for change in fence::decided(&Initial::joining(members)) {
                    change.apply(&*host.disk)?;
                }
                return Ok(true);
            }
            Next::Add => drop(others.etcd.add_learner(&self.peer_url).await.map_err(failed)?),
            Next::Remove(id) => others.etcd.remove(id).await.map_err(failed)?,
            Next::Wait(why) => return Err(StepError::new(codes::NO_PLACE, format!("waiting for {why}")).retryable()),
        }
        Ok(false)
    }
}

impl Step for EtcdPlace {
    type Seen = Seen;

    fn about(&self) -> About {
        About::new("etcd-place", "Take a place in etcd", "the cluster's data survive the loss of a master")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        if !host.is_live || host.disk.exists(Path::new(etcd::INITIAL))? {
            return Ok(Seen::Decided);
        }
        Ok(Seen::Due(self.next(&self.look(host).await?)))
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        let what = match seen {
            Seen::Decided | Seen::Due(Next::Wait(_)) => return Ok(Vec::new()),
            Seen::Due(Next::Add) => format!("announce {} to etcd's members, without a vote", self.node),
            Seen::Due(Next::Remove(id)) => {
                format!("replace etcd's member {id:x}, which was {} before it lost its data", self.node)
            }
            Seen::Due(Next::Start(_)) => format!("go on as the member that {} was announced as", self.node),
        };
        Ok(vec![Change::Act { key: "place".into(), what }])
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        match seen {
            Seen::Due(Next::Wait(what)) => Verdict::Waiting { what: what.clone(), progress: what.clone() },
            _ => Verdict::Met,
        }
    }

    async fn apply(&self, _change: &Change, host: &Host) -> Result<(), StepError> {
        self.take(host).await
    }
}
