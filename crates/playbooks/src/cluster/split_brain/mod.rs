//! Whether there is a cluster already. A master that was given an empty disk must never start a second one.
//!
//! The answer is a file beside etcd's data ([`etcd::INITIAL`]), written before anything starts: a master that has it, or has
//! data, never asks again. One that had data and has lost them (a disk that is not mounted looks the same) starts no new
//! cluster unless it is forced to.

mod clock;
mod decide;

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use engine::{About, Act, Planned, Stays, Step, StepError, Verdict};
use etcd::Initial;
use explain::Explain;
use host::{Change, Content, Host};
use jiff::Timestamp;
use join::{
    Credential, JoinError,
    wire::{ClusterState, Hello},
};
use spec::Role;

use self::decide::{Answer, Decision, decide};
use super::{ids, services::NodeContext};
use crate::{
    codes,
    membership::{Membership, machine_id},
};
use nodekit::systemd;

/// A master that is up answers at once.
const LIMIT: Duration = Duration::from_secs(2);

/// Finds out whether this master starts a cluster or joins one.
pub(super) struct SplitBrainGuard {
    membership: Arc<Membership>,
    node: String,
    ip: IpAddr,
    others: Vec<(String, IpAddr)>,
    /// `None` if this is it.
    first: Option<String>,
    /// This is the temporary bootstrap node.
    is_temporary: bool,
    /// There once this machine was a member of etcd.
    member_id: PathBuf,
    force: bool,
}

/// What was found.
pub(super) enum Seen {
    /// It was decided before.
    Decided,
    /// There are data, but not the decision that they were made by.
    DataOnly,
    /// No master was asked: the machine does not run.
    Unasked,
    /// The others were asked.
    Asked {
        decision: Decision,
        /// Every master that was heard and knows of no cluster, and which machine it is; this one too.
        machines: Vec<(String, IpAddr, String)>,
        /// Changes with every check: another machine is switched on when a person switches it on.
        moment: String,
    },
}

impl SplitBrainGuard {
    pub(super) fn new(context: &NodeContext<'_>, membership: &Arc<Membership>, force: bool) -> Self {
        let NodeContext { cluster, node, layout, .. } = context;
        let others = cluster.control_plane().filter(|master| master.name != node.name);
        let first = cluster.control_plane().next().map(|master| master.name.clone());
        Self {
            membership: membership.clone(),
            node: node.name.clone(),
            ip: node.ip,
            others: others.map(|master| (master.name.clone(), master.ip)).collect(),
            first: first.filter(|first| *first != node.name),
            is_temporary: node.has(Role::Bootstrap),
            member_id: layout.etcd_member_id(),
            force,
        }
    }

    async fn ask(&self, host: &Host) -> Result<Seen, StepError> {
        let own = machine_id(&*host.disk)?.unwrap_or_else(|| join::machine_id(""));
        let mut machines = vec![(self.node.clone(), self.ip, own)];
        let now = host.clock.now();
        let moment = now.to_string();
        if self.others.is_empty() || self.force {
            return Ok(Seen::Asked { decision: Decision::Bootstrap(Vec::new()), machines, moment });
        }
        let (credential, trust) = self.membership.credential(&*host.disk)?;
        refuse_ended(&credential, now)?;
        let survey = self.membership.known(host, trust).await.survey(LIMIT).await;
        let (mut answer, mut clocks) = (Vec::new(), Vec::new());
        for (address, outcome) in survey {
            let Some((name, ip)) = self.others.iter().find(|(_, ip)| *ip == address.ip()) else { continue };
            if let Ok(Hello { cluster_state: Some(ClusterState::Apart), own_machine: Some(machine), .. }) = &outcome {
                machines.push((name.clone(), *ip, machine.clone()));
            }
            let clock = outcome.as_ref().ok().map(|hello| hello.now);
            let understood = understood(outcome);
            if let (Answer::Part { .. }, Some(now)) = (&understood, clock) {
                clocks.push((name.as_str(), now));
            }
            answer.push((name.clone(), understood));
        }
        if let Some(difference) = clock::difference(now, &clocks) {
            return Err(StepError::new(codes::CLOCKS_APART, difference));
        }
        let decision = if self.is_temporary {
            decide::decide_temporary(&answer).map_err(|why| StepError::new(codes::CLUSTER_EXISTS, why))?
        } else {
            decide(self.first.as_deref(), &answer, now)
        };
        Ok(Seen::Asked { decision, machines, moment })
    }
}

/// Sealed directories end together: no master would believe another, and all would wait.
fn refuse_ended(credential: &Credential, now: Timestamp) -> Result<(), StepError> {
    match credential {
        Credential::NodeSecret(secret) if secret.is_expired(now) => {
            let end = secret.expires.unwrap_or(now);
            let message = format!("the sealed directory of this machine ended at {end}, and it is {now:.0}");
            Err(StepError::new(join::codes::EXPIRED, message))
        }
        _ => Ok(()),
    }
}

fn understood(outcome: Result<Hello, JoinError>) -> Answer {
    match outcome {
        Ok(Hello { cluster_state: Some(ClusterState::Apart), own_machine: Some(_), .. }) => Answer::Apart,
        Ok(Hello { cluster_state: Some(ClusterState::Apart), .. }) => {
            Answer::Untrusted("it has no machine id".to_owned())
        }
        Ok(Hello { cluster_state: Some(ClusterState::Decided | ClusterState::Member), admits, .. }) => {
            Answer::Part { admits }
        }
        // A machine without a sealed directory is a stranger to it. Who can let others in has decided before.
        Ok(Hello { cluster_state: None, admits: true, .. }) => Answer::Part { admits: true },
        Ok(Hello { cluster_state: None, .. }) => {
            Answer::Untrusted("it does not report its state to this machine, which has no certificate".to_owned())
        }
        Err(JoinError::Unreachable { tried }) => match tried.into_iter().next() {
            Some(unreached) => Answer::Silent { since: unreached.since, why: unreached.why },
            None => Answer::Untrusted("it was not asked".to_owned()),
        },
        Err(error) => Answer::Untrusted(format!("{} ({})", error, error.code().id)),
    }
}

/// This machine was a member of etcd, its data are gone, and no other master has them.
fn data_gone(member_id: &Path) -> StepError {
    let (data, note) = (etcd::DATA, member_id.display());
    let message = format!("{data} is not there, and {note} shows that this machine was a member");
    StepError::new(codes::DATA_GONE, message)
}

/// The file that holds the decision, and the directory it lies in.
pub(super) fn decided(initial: &Initial) -> [Change; 2] {
    let content = Content::Plain(initial.text().into_bytes());
    [
        Change::Directory { path: etcd::DATA_DIR.into(), mode: 0o700 },
        Change::File { path: etcd::INITIAL.into(), mode: 0o600, content },
    ]
}

impl Step for SplitBrainGuard {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(
            ids::SPLIT_BRAIN_GUARD,
            "Find out whether there is a cluster",
            "a master with an empty disk joins the cluster that is there, and never starts a second one",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let has = |path: &str| host.disk.exists(Path::new(path));
        let had_data = host.disk.exists(&self.member_id)?;
        match (has(etcd::INITIAL)?, has(etcd::DATA)?) {
            (true, false) if had_data && self.force => self.ask(host).await,
            (true, false) if had_data && (self.others.is_empty() || self.is_temporary) => {
                Err(data_gone(&self.member_id))
            }
            (true, _) => Ok(Seen::Decided),
            (false, true) => Ok(Seen::DataOnly),
            (false, false) if !host.is_live && !self.others.is_empty() => Ok(Seen::Unasked),
            (false, false) => match self.ask(host).await? {
                Seen::Asked { decision: Decision::Bootstrap(_), .. } if had_data && !self.force => {
                    Err(data_gone(&self.member_id))
                }
                seen => Ok(seen),
            },
        }
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let (initial, forced) = match seen {
            // etcd does not look at it where it has data; the unit wants it to be there.
            Seen::DataOnly => (Initial::joining([(self.node.clone(), etcd::peer_url(self.ip))].into()), None),
            Seen::Asked { decision: Decision::Bootstrap(with), machines, .. } => {
                let takes_part = |name: &String| *name == self.node || with.contains(name);
                let initial_members = machines.iter().filter(|(name, _, _)| takes_part(name));
                let others = self.others.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
                let unasked = if others.is_empty() { String::new() } else { format!(" without asking {others}") };
                let what = format!("start a new cluster{unasked}, as --force-new-cluster says");
                let forced = self.force.then(|| Planned::act("force-new-cluster", what));
                (
                    Initial::bootstrapping(
                        initial_members.map(|(name, ip, machine)| (name.as_str(), *ip, machine.as_str())),
                    ),
                    forced,
                )
            }
            Seen::Decided | Seen::Unasked | Seen::Asked { .. } => return Ok(Vec::new()),
        };
        Ok(forced.into_iter().chain(decided(&initial).map(Planned::File)).collect())
    }

    fn verify(&self, seen: &Seen) -> Verdict {
        match seen {
            Seen::Asked { decision: Decision::Wait(what), moment, .. } => {
                Verdict::Waiting { what: what.clone(), progress: moment.clone() }
            }
            _ => Verdict::Met,
        }
    }

    /// To force is to decide; what is done is the file that follows.
    async fn act(&self, act: &Act, host: &Host) -> Result<(), StepError> {
        host::remove_file(&*host.disk, &self.member_id)?;
        systemd::note(host, &act.what).await
    }
}
