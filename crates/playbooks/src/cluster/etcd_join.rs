//! A master that was not there when etcd was bootstrapped joins it, as a learner at first.
//!
//! Certificates, unit and program are in place before the others hear of the new member: from then on they count with it.
//! The change is made under a lock, and a run that was killed in the middle goes on where it was: an announced member that
//! never started is this master's own. One that did start had data, and this master has none: it is removed and comes in
//! again, because a member must not forget what it has voted for.
//!
//! The plan names the file with the decision, and the act writes it: while the lock is held, and not through the ledger. What
//! the engine writes it also restores, and a reset must not bring back how a member that is gone once started.

mod next;

use std::{
    collections::BTreeSet,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use etcd::{
    Access, Asked, Etcd, Initial, Member, MembershipLock, State,
    survey::{self, Agreed},
};
use host::{Change, Host};
use spec::{Node, ValidatedCluster};
use tokio::time::{Instant, sleep, timeout};

use self::next::JoinOrder;
pub(super) use self::next::Next;
use super::{ids, split_brain};
use crate::{codes, etcd_access::etcd_access};
use nodekit::{Layout, cleanup::tree, systemd};

/// etcd itself refuses a change for some seconds after another one.
const DEADLINE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(300);
const POLL: Duration = Duration::from_millis(100);
/// A member that starts has its log within a second, on a busy machine within several. The lock lasts longer.
const STARTED: Duration = Duration::from_secs(20);
/// A member that has its log answers its clients within a moment, or after seven seconds.
const ANSWERS: Duration = Duration::from_millis(1500);
const UNIT: &str = "etcd.service";

/// Takes this master's place.
pub(super) struct EtcdJoin {
    node: String,
    peer_url: String,
    /// Name and client URL of the other masters.
    others: Vec<(String, String)>,
    order: JoinOrder,
    kubernetes_dir: PathBuf,
    /// There once this machine was a member.
    member_id: PathBuf,
}

/// What was found.
pub(super) enum Seen {
    /// It is decided what this member starts with.
    Decided,
    /// There is something to be done.
    Due(Next),
}

impl EtcdJoin {
    pub(super) fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        let others = cluster.control_plane().filter(|master| master.name != node.name);
        let url = |ip: IpAddr| etcd::client_url(ip);
        Self {
            node: node.name.clone(),
            peer_url: etcd::peer_url(node.ip),
            others: others.map(|master| (master.name.clone(), url(master.ip))).collect(),
            order: if cluster.bootstrap_node().is_some() { JoinOrder::Learners } else { JoinOrder::OneByOne },
            kubernetes_dir: layout.kubernetes_dir.clone(),
            member_id: layout.etcd_member_id(),
        }
    }

    async fn check(&self, access: &Access) -> Result<Agreed, String> {
        Agreed::of(&survey::ask_majority(access, self.others.iter().cloned()).await)
    }

    fn access(&self, host: &Host) -> Result<Access, StepError> {
        etcd_access(host, &self.kubernetes_dir)
    }

    fn next(&self, others: &Result<Agreed, String>) -> Next {
        match others {
            Ok(others) => next::next(&self.node, &self.peer_url, &others.members, &others.healthy, self.order),
            Err(why) => Next::Wait(format!("a majority of etcd's members to answer ({why})")),
        }
    }

    /// Whether it was decided what this member starts with, and still holds. A place that was taken and not used is given
    /// up by the others after a while; one that was used and whose data is gone is not to be used again.
    async fn is_decided(&self, host: &Host) -> Result<bool, StepError> {
        let Some(text) = host.disk.read_optional(Path::new(etcd::INITIAL))? else { return Ok(false) };
        let initial = Initial::parse(&String::from_utf8_lossy(&text)).filter(|it| it.state == State::Existing);
        // A member that was refused at its start has a directory, and nothing that it could have voted for.
        let has_log = host.disk.exists(Path::new(etcd::LOG))?;
        match (has_log, host.disk.exists(&self.member_id)?) {
            (true, true) => return Ok(true),
            (false, true) => return Ok(false),
            _ => {}
        }
        let Some(initial) = initial else { return Ok(true) };
        // Data that came from elsewhere (a restore by hand) have a decision that names this master alone; they are never dropped.
        if has_log && initial.members.len() < 2 {
            return Ok(true);
        }
        // Where no member answers, etcd itself asks them when it starts.
        let others = self.check(&self.access(host)?).await;
        if has_log {
            // A learner that was away for too long was taken out before it had its vote: it joins again, with another number.
            return Ok(others.map_or(true, |others| others.member(&self.node, Some(&self.peer_url)).is_some()));
        }
        let own = |others: &Agreed| others.member(&self.node, Some(&self.peer_url)).map(Member::has_started);
        Ok(others.map_or(true, |others| own(&others) == Some(false) && is_current(&initial, &others.members)))
    }

    /// What is to be done, one thing after the other, each decided on what is there now.
    async fn take(&self, host: &Host) -> Result<(), StepError> {
        let until = Instant::now() + DEADLINE;
        let mut held: Option<MembershipLock> = None;
        let outcome = loop {
            match self.one(host, &mut held).await {
                Ok(true) => break Ok(()),
                Ok(false) => {}
                Err(error) if error.is_retryable() && Instant::now() < until => {
                    // What is waited for may be another master's to do.
                    if let Some(lock) = held.take() {
                        lock.release().await;
                    }
                    host.doing(error.to_string());
                    sleep(PAUSE).await;
                }
                Err(error) => break Err(error),
            }
        };
        if let Some(lock) = held {
            lock.release().await;
        }
        outcome?;
        match self.order {
            JoinOrder::Learners => self.wake(host).await,
            JoinOrder::OneByOne => Ok(()),
        }
    }

    /// What a new member publishes of itself is lost if it is in the snapshot that the member receives. It then answers no client until
    /// it tries again, after seven seconds; started again it does so at once. It has no vote yet, so etcd does not miss it.
    async fn wake(&self, host: &Host) -> Result<(), StepError> {
        let own = self.access(host)?.own();
        let until = Instant::now() + ANSWERS;
        while Instant::now() < until {
            if let Ok(Ok(_)) = timeout(PAUSE, own.status()).await {
                return Ok(());
            }
            sleep(POLL).await;
        }
        host.doing("etcd to be started again: it does not answer its clients".to_owned());
        systemd::systemctl(host, &["restart", "--no-block", UNIT]).await?;
        Ok(())
    }

    /// One change; true if it was the last.
    async fn one(&self, host: &Host, held: &mut Option<MembershipLock>) -> Result<bool, StepError> {
        let access = self.access(host)?;
        let no_answer = |why: String| {
            let message = format!("etcd's members do not answer: {why}");
            StepError::new(codes::CANNOT_JOIN_ETCD, message).retryable()
        };
        let others = self.check(&access).await.map_err(no_answer)?;
        let etcd = access.member(others.speaker_besides(None).unwrap_or_default());
        if !self.holds(&etcd, held).await? {
            // What was seen before the lock was taken may be old.
            return Ok(false);
        }
        match next::next(&self.node, &self.peer_url, &others.members, &others.healthy, self.order) {
            Next::Start(members) => {
                // Of the member that this master was before, whatever the next run sees of it.
                let old = [PathBuf::from(etcd::INITIAL), self.member_id.clone()].map(|path| Change::Remove { path });
                if host.disk.exists(Path::new(etcd::LOG))? {
                    // Of a member that etcd's majority does not have any more; its process only says so and ends.
                    systemd::systemctl(host, &["stop", UNIT]).await?;
                    tree::remove(&*host.disk, Path::new(etcd::DATA))?;
                }
                for change in old.into_iter().chain(split_brain::decided(&Initial::joining(members))) {
                    change.apply(&*host.disk)?;
                }
                if self.order == JoinOrder::Learners {
                    start(host).await?;
                }
                return Ok(true);
            }
            Next::Add => drop(etcd.add_learner(&self.peer_url).await.map_err(|error| failed(&error))?),
            Next::Remove(id) => etcd.remove(id).await.map_err(|error| failed(&error))?,
            Next::Wait(why) => {
                return Err(StepError::new(codes::CANNOT_JOIN_ETCD, format!("waiting for {why}")).retryable());
            }
        }
        Ok(false)
    }

    /// Whether the lock was held already; if not, it is from now on.
    async fn holds(&self, etcd: &Etcd, held: &mut Option<MembershipLock>) -> Result<bool, StepError> {
        // One whose keeper does not answer any more is asked for again, through a member that does.
        if let Some(lock) = held
            && lock.renew().await.unwrap_or(false)
        {
            return Ok(true);
        }
        *held = match MembershipLock::ask(etcd, &self.node).await.map_err(|error| failed(&error))? {
            Asked::Got(lock) => Some(lock),
            Asked::HeldBy(holder) => {
                let message = format!("{holder} changes etcd's members at this moment");
                return Err(StepError::new(codes::CANNOT_JOIN_ETCD, message).retryable());
            }
        };
        Ok(false)
    }
}

/// Starts the member while no other can be announced: with other members than it knows of, etcd refuses to start.
async fn start(host: &Host) -> Result<(), StepError> {
    systemd::systemctl(host, &["start", "--no-block", UNIT]).await?;
    let until = Instant::now() + STARTED;
    while !host.disk.exists(Path::new(etcd::LOG))? {
        if Instant::now() > until {
            let why = systemd::last_log_line(host, UNIT).await;
            let message = format!("etcd has not started within {} s: {why}", STARTED.as_secs());
            return Err(StepError::new(codes::CANNOT_JOIN_ETCD, message).retryable());
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

/// With whom it starts is what its members are now: etcd refuses to start with anything else.
fn is_current(initial: &Initial, members: &[Member]) -> bool {
    let known: BTreeSet<&String> = members.iter().flat_map(|member| &member.peer_urls).collect();
    initial.members.values().collect::<BTreeSet<_>>() == known
}

fn failed(error: &etcd::EtcdError) -> StepError {
    let is_passing = error.is_not_yet();
    let failed = StepError::from_explained(error);
    if is_passing { failed.retryable() } else { failed }
}

impl Step for EtcdJoin {
    type Seen = Seen;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::ETCD_JOIN, "Join etcd", "the cluster's data survive the loss of a master")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        if self.is_decided(host).await? {
            return Ok(Seen::Decided);
        }
        Ok(Seen::Due(self.next(&self.check(&self.access(host)?).await)))
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let what = match seen {
            Seen::Decided | Seen::Due(Next::Wait(_)) => return Ok(Vec::new()),
            Seen::Due(Next::Add) => format!("add {} to etcd as a learner", self.node),
            Seen::Due(Next::Remove(id)) => {
                format!("replace etcd's member {id:x}, which was {} before it lost its data", self.node)
            }
            Seen::Due(Next::Start(_)) => format!("start as the member that {} was added as", self.node),
        };
        let last = format!("then write {}", etcd::INITIAL);
        Ok(vec![Planned::act("join", format!("{what}, {last}"))])
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        match seen {
            Seen::Due(Next::Wait(what)) => Verdict::Waiting { what: what.clone(), progress: what.clone() },
            _ => Verdict::Met,
        }
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        self.take(host).await
    }
}
