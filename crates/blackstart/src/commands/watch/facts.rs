//! What has been gathered at a moment, from wherever. Nothing is evaluated here.

use std::collections::BTreeMap;

use ::explain::Diagnostic;
use agent::Status;
use jiff::{SignedDuration, Timestamp};
use join::wire;
use lab::Power;
use nodekit::{milestones::Progress, run_record::RunSummary};
use spec::Role;

/// Everything that is known.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The cluster's name.
    pub(super) cluster: String,
    /// Every node, in the order of cluster.yaml.
    pub(super) nodes: Vec<Known>,
    /// The temporary bootstrap node of cluster.yaml.
    pub(super) bootstrap: Option<Known>,
    /// Its milestones as it has published them in the API; empty where that cannot be asked.
    pub(super) published: Vec<Progress>,
    /// The last answer of each master, and of the bootstrap node, by name. One that was not asked yet is not in it.
    pub(super) masters: BTreeMap<String, Master>,
    /// The machines that can be looked at from here, by name: this one, or those of a lab.
    pub(super) machines: BTreeMap<String, Seen>,
}

/// A node of cluster.yaml.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) role: Role,
}

/// What is known from one master.
#[derive(Debug, Default)]
pub(super) struct Master {
    /// There is nothing to ask it with.
    pub(super) without_means: bool,
    /// Since when it cannot be asked, and why; `None` while it answers.
    pub(super) unheard: Option<Unheard>,
    /// When it last answered, by this machine's clock.
    pub(super) answered: Option<Timestamp>,
    /// Since when it listens.
    pub(super) listening_since: Option<Timestamp>,
    /// Whether the cluster's API answers it, where it was only greeted.
    pub(super) api_ready: Option<bool>,
    /// The last reports of nodes, as of its last answer.
    pub(super) reports: BTreeMap<String, Heard>,
}

/// Why a master cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unheard {
    pub(super) since: Timestamp,
    pub(super) why: Diagnostic<String>,
}

/// The last report of a node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard {
    /// When the master received it, by this machine's clock.
    pub(super) at: Timestamp,
    /// True if the node had no certificate yet.
    pub(super) early: bool,
    /// Its status; `None` if that cannot be parsed.
    pub(super) status: Option<Status>,
}

/// A machine that was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Whether it has power; `None` where it is this machine.
    pub(super) power: Option<Power>,
    /// What it is cut off from.
    pub(super) cut_off_from: Vec<String>,
    /// The last run on it.
    pub(super) run: Option<RunSummary>,
    /// On a bootstrap node, its milestones; else empty.
    pub(super) milestones: Vec<Progress>,
}

/// What came back from a master.
#[derive(Debug)]
pub(super) enum Answer {
    /// Everything it knows.
    Nodes(wire::Nodes),
    /// Only who it is: this node has no certificate to ask more with.
    Hello(wire::Hello),
    /// It was not asked: there is nothing to ask it with.
    NotAsked,
    /// Nothing, and why.
    Nothing(Diagnostic<String>),
}

impl Facts {
    /// Takes in the answer of a master.
    pub(super) fn take(&mut self, master: &str, answer: Answer, now: Timestamp) {
        let known = self.masters.entry(master.to_owned()).or_default();
        match answer {
            Answer::Nothing(why) => {
                let since = known.unheard.as_ref().map_or(now, |unheard| unheard.since);
                known.unheard = Some(Unheard { since, why });
                known.without_means = false;
            }
            // Its answers from when it could be asked stay.
            Answer::NotAsked => known.without_means = known.answered.is_none() && known.unheard.is_none(),
            Answer::Hello(hello) => {
                *known = Master { answered: Some(now), api_ready: Some(hello.ready), ..Master::default() };
            }
            Answer::Nodes(nodes) => {
                // Its clock may differ from ours.
                let ahead: SignedDuration = now.duration_since(nodes.now);
                let reports = nodes.nodes.into_iter().chain(nodes.bootstrap).filter_map(|node| {
                    let report = node.report?;
                    let status = serde_json::from_value(report.status).ok();
                    Some((node.node, Heard { at: report.received + ahead, early: report.early, status }))
                });
                *known = Master {
                    without_means: false,
                    unheard: None,
                    answered: Some(now),
                    listening_since: Some(nodes.listening_since + ahead),
                    api_ready: None,
                    reports: reports.collect(),
                };
            }
        }
    }

    /// The newest report of a node, and as of when to read it: when the master that has it was last asked.
    pub(super) fn heard(&self, node: &str) -> Option<(&Heard, Timestamp)> {
        let report = |name: &String| Some((self.masters.get(name)?.reports.get(node)?, self.read_as_of(name)?));
        self.masters.keys().filter_map(report).max_by_key(|(heard, _)| heard.at)
    }

    fn read_as_of(&self, master: &str) -> Option<Timestamp> {
        if self.is_gone(master) {
            return self.masters.values().filter_map(|master| master.answered).max();
        }
        self.masters.get(master)?.answered
    }

    /// Whether this is the bootstrap node and its join service does not answer. It never may again, so what it has heard
    /// counts only until the masters should have heard it too.
    pub(super) fn is_gone(&self, master: &str) -> bool {
        let is_bootstrap = self.bootstrap.as_ref().is_some_and(|bootstrap| bootstrap.name == master);
        is_bootstrap && self.masters.get(master).is_some_and(|master| master.unheard.is_some())
    }
}
