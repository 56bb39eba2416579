//! How far the masters are on their way to do this machine's work, as four steps that wait for one thing each.
//!
//! ```text
//! masters-present ─► etcd-announced ─► etcd-scaled ─► masters-ready
//! agents answer      etcd's learners   voters         API servers, Nodes and controllers
//! ```
//! To wait for something more: a field of [`Master`], what it lacks without it in [`Master::lacks`].

mod observe;

use std::sync::Arc;

use engine::{About, FilesOnly, Step, StepError, StepId, Verdict};
use host::Host;

pub(super) use self::observe::Masters;
use super::super::ids;
use crate::codes;

/// What the masters are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Their agents answer.
    Present,
    /// etcd knows of them.
    Announced,
    /// They have votes in etcd.
    Voting,
    /// They have a control plane of their own.
    Ready,
}

/// What a master is in etcd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Learner,
    Voter,
}

/// One master, as far as it was looked at: what comes later is only asked for when it is waited for.
#[derive(Debug, Clone, Default)]
struct Master {
    name: String,
    /// Why its agent does not answer.
    silent: Option<String>,
    /// It is part of a cluster that is not this machine's.
    is_elsewhere: bool,
    /// What it is in etcd.
    member: Option<Member>,
    /// What its API server lacks.
    api: Option<String>,
    is_ready: bool,
    /// Its controllers wait to lead.
    has_controllers: bool,
}

impl Master {
    /// What it lacks for a stage. Pure.
    fn lacks(&self, stage: Stage) -> Option<String> {
        let name = &self.name;
        match stage {
            Stage::Present => self.silent.as_ref().map(|why| format!("{name} to answer ({why})")),
            Stage::Announced => self.member.is_none().then(|| format!("{name} to join etcd")),
            Stage::Voting => (self.member != Some(Member::Voter)).then(|| format!("{name} to get a vote in etcd")),
            Stage::Ready => match &self.api {
                Some(what) => Some(format!("{name}: {what}")),
                None if !self.is_ready => Some(format!("node {name} to be Ready")),
                None => (!self.has_controllers).then(|| format!("the controllers of {name} to run")),
            },
        }
    }
}

/// Whether a step of the bootstrap node waits for masters, by its name.
pub fn is_for_masters(step: &str) -> bool {
    [ids::MASTERS_PRESENT, ids::ETCD_ANNOUNCED, ids::ETCD_SCALED, ids::MASTERS_READY]
        .iter()
        .any(|id| id.as_str() == step)
}

/// Waits until all of them are at a stage.
pub(super) struct MastersAt {
    about: About,
    stage: Stage,
    masters: Arc<Masters>,
}

/// What was found.
pub(super) struct Seen {
    /// What is missing, by master.
    missing: Vec<String>,
    /// Changes with every check: a machine is switched on when a person switches it on.
    moment: String,
}

impl MastersAt {
    pub(super) fn new(stage: Stage, masters: &Arc<Masters>) -> Self {
        let (id, title, why): (StepId, _, _) = match stage {
            Stage::Present => (ids::MASTERS_PRESENT, "Wait for the masters", "they are switched on after this machine"),
            Stage::Announced => {
                (ids::ETCD_ANNOUNCED, "Wait for the masters' etcd members", "each gets the data before it gets a vote")
            }
            Stage::Voting => {
                (ids::ETCD_SCALED, "Wait for the masters' votes in etcd", "etcd goes on without this machine")
            }
            Stage::Ready => (
                ids::MASTERS_READY,
                "Wait for the masters' control plane",
                "each of them must be able to do this machine's work",
            ),
        };
        Self { about: About::new(id, title, why), stage, masters: masters.clone() }
    }
}

impl Step for MastersAt {
    type Seen = Seen;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        self.about.clone()
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        let masters = self.masters.observe(host, self.stage).await?;
        if let Some(master) = masters.iter().find(|master| master.is_elsewhere) {
            let message = format!(
                "{} is part of a cluster, and its member is not in this machine's etcd: this is a second cluster",
                master.name
            );
            return Err(StepError::new(codes::CLUSTER_EXISTS, message));
        }
        let missing = masters.iter().filter_map(|master| master.lacks(self.stage)).collect();
        Ok(Seen { missing, moment: host.clock.now().to_string() })
    }

    fn verify(&self, Seen { missing, moment }: &Seen) -> Verdict {
        if missing.is_empty() {
            return Verdict::Met;
        }
        Verdict::Waiting { what: missing.join("; "), progress: moment.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_waits_for_its_own() {
        let nothing = Master { name: "m1".into(), silent: Some("connection refused".into()), ..Master::default() };
        let api = Some("https://10.0.0.11:6443 to answer".to_owned());
        let there = Master { silent: None, ..nothing.clone() };
        let voter = Master { member: Some(Member::Voter), api, ..there.clone() };
        let serving = Master { api: None, ..voter.clone() };
        let ready = Master { is_ready: true, ..serving.clone() };
        let whole = Master { has_controllers: true, ..ready.clone() };
        for (master, stage, expected) in [
            (&nothing, Stage::Present, Some("m1 to answer (connection refused)")),
            (&there, Stage::Present, None),
            (&there, Stage::Announced, Some("m1 to join etcd")),
            (&there, Stage::Voting, Some("m1 to get a vote in etcd")),
            (&voter, Stage::Voting, None),
            (&voter, Stage::Ready, Some("m1: https://10.0.0.11:6443 to answer")),
            (&serving, Stage::Ready, Some("node m1 to be Ready")),
            (&ready, Stage::Ready, Some("the controllers of m1 to run")),
            (&whole, Stage::Ready, None),
        ] {
            assert_eq!(master.lacks(stage).as_deref(), expected, "{master:?} {stage:?}");
        }
    }
}
