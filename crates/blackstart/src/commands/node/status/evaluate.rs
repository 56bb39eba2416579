//! From facts to an evaluation. Pure: the same facts always give the same status.

use std::collections::BTreeMap;

use jiff::Timestamp;
use nodekit::run_record::{Outcome, Purpose, RunSummary};
use pki::Urgency;
use serde::Serialize;

use super::facts::{Api, ApiNode, Certificate, Condition, Facts, Health, Identity, Seen, Unit};
use crate::Exit;

/// The version in `v`. Fields are only ever added; a change of meaning gets a new version.
const SCHEMA_VERSION: u32 = 1;

/// Those that do their work and end: stopped is how they are most of the time.
const ONCE: [&str; 2] = ["cluster-detect.service", "cluster-bootstrap.service"];

/// How the node is, as `-o json` prints it.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    pub(super) v: u32,
    pub(super) state: State,
    pub(super) node: Option<String>,
    pub(super) role: Option<String>,
    pub(super) cluster: Option<String>,
    pub(super) joined_at: Option<Timestamp>,
    /// Everything that is wrong, in words; empty when nothing is.
    pub(super) problems: Vec<String>,
    /// The last bootstrap or reset.
    pub(super) run: Option<RunSummary>,
    /// Whether that ran in the boot the machine is in now.
    pub(super) this_boot: bool,
    pub(super) units: Vec<Unit>,
    pub(super) api: ApiView,
    pub(super) certificates: Certificates,
    /// What could not be seen, and why.
    pub(super) inconclusive: Vec<String>,
    #[serde(skip)]
    pub(super) now: Timestamp,
}

/// How the node is, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// No run has tried to make it a node.
    NeverStarted,
    /// A run is at it.
    Working,
    /// The last run failed.
    Failed,
    /// The last run ended without a report: killed, or the machine went down.
    Interrupted,
    /// The last run was stopped between two changes.
    Stopped,
    /// It has joined; whether it is Ready cannot be seen.
    Joined,
    /// It has joined, and the API does not call it Ready.
    NotReady,
    /// It is Ready, and something is wrong.
    Degraded,
    /// It is Ready.
    Ready,
    /// A bootstrap node whose work is done: the masters have taken over.
    Retired,
}

impl State {
    /// The exit codes that `--help` and the documentation promise.
    pub(super) fn exit(self) -> Exit {
        match self {
            Self::Ready | Self::Retired => Exit::Done,
            Self::Working => Exit::Other(3),
            Self::NeverStarted => Exit::Other(4),
            Self::Failed | Self::Interrupted | Self::Stopped | Self::Joined | Self::NotReady | Self::Degraded => {
                Exit::Failed
            }
        }
    }
}

/// What the API says.
#[derive(Debug, Serialize)]
pub(super) struct ApiView {
    pub(super) reachable: bool,
    /// Why it says nothing.
    pub(super) why: Option<String>,
    /// The conditions of this node.
    pub(super) conditions: Vec<Condition>,
    /// All nodes of the cluster, and whether they are Ready.
    pub(super) nodes: BTreeMap<String, bool>,
    /// Nodes of cluster.yaml that the API does not know.
    pub(super) not_joined: Vec<String>,
}

/// The certificates on this machine.
#[derive(Debug, Serialize)]
pub(super) struct Certificates {
    pub(super) count: usize,
    /// The one that expires first.
    pub(super) next: Option<Certificate>,
}

impl Status {
    /// From everything that was seen.
    pub(super) fn of(facts: Facts) -> Self {
        let Facts { now, boot_id, identity, is_retired, joined_at, run, disk, units, api, certificates } = facts;
        let mut inconclusive = Inconclusive::default();
        let run = inconclusive.take("runs", run).flatten();
        // What it ran is stopped for good.
        let units = inconclusive.take("units", units).filter(|_| !is_retired).unwrap_or_default();
        let certificates = inconclusive.take("certificates", certificates).unwrap_or_default();
        let Identity { node, role, cluster, nodes, failure } = identity;
        inconclusive.0.extend(failure.map(|why| format!("configuration: {why}")));
        let node = node.or_else(|| run.as_ref().map(|run| run.node.clone()).filter(|node| !node.is_empty()));

        let own = Own::of(&api, node.as_deref(), &boot_id);
        let was_started = run.is_some() || joined_at.is_some();
        let mut problems: Vec<String> = disk.into_iter().collect();
        if was_started {
            problems.extend(run.as_ref().and_then(run_problem));
            problems.extend(units.iter().filter_map(unit_problem));
            problems.extend(own.problem().filter(|_| !is_retired));
            problems.extend(certificates.iter().filter_map(certificate_problem));
        }
        let next = certificates.iter().min_by_key(|certificate| certificate.not_after).cloned();
        Self {
            v: SCHEMA_VERSION,
            state: if is_retired { State::Retired } else { state(run.as_ref(), was_started, &own, &problems) },
            node,
            role: role.map(|role| role.to_string()),
            cluster,
            joined_at,
            this_boot: run.as_ref().is_some_and(|run| run.boot_id == boot_id),
            run,
            problems,
            units,
            api: view(api, own, nodes),
            certificates: Certificates { count: certificates.len(), next },
            inconclusive: inconclusive.0,
            now,
        }
    }
}

/// Collects what could not be seen.
#[derive(Default)]
struct Inconclusive(Vec<String>);

impl Inconclusive {
    fn take<T>(&mut self, what: &str, seen: Seen<T>) -> Option<T> {
        seen.map_err(|why| self.0.push(format!("{what}: {why}"))).ok()
    }
}

/// What the API says of this node.
enum Own {
    /// Ready, reported by this boot of the machine.
    Ready(Vec<Condition>),
    /// Something else, and why that is so.
    NotReady(Vec<Condition>, String),
    /// No answer.
    Silent(String),
    /// Not asked.
    Unknown,
}

impl Own {
    fn of(api: &Api, node: Option<&str>, boot_id: &str) -> Self {
        let nodes = match api {
            Api::Nodes(nodes) => nodes,
            Api::Silent(why) => return Self::Silent(why.clone()),
            Api::NotAsked(_) => return Self::Unknown,
        };
        let Some(name) = node else { return Self::Unknown };
        match nodes.get(name) {
            None => Self::NotReady(Vec::new(), format!("the API knows no node {name}")),
            Some(ApiNode { boot_id: reported, conditions, .. }) if reported != boot_id => {
                Self::NotReady(conditions.clone(), "the kubelet of this boot has not reported yet".to_owned())
            }
            Some(ApiNode { readiness, conditions, .. }) if readiness.is_ready() => Self::Ready(conditions.clone()),
            Some(ApiNode { readiness, conditions, .. }) => {
                let why = format!("node {name} is not Ready: {}", readiness.why().unwrap_or_default());
                Self::NotReady(conditions.clone(), why)
            }
        }
    }

    fn problem(&self) -> Option<String> {
        match self {
            Self::Ready(_) | Self::Unknown => None,
            Self::NotReady(_, why) => Some(why.clone()),
            Self::Silent(why) => Some(format!("API not reachable: {why}")),
        }
    }
}

fn state(run: Option<&RunSummary>, was_started: bool, own: &Own, problems: &[String]) -> State {
    let outcome = run.map(|run| (run.purpose, run.outcome));
    match (outcome, own) {
        _ if !was_started => State::NeverStarted,
        (Some((_, Outcome::Working)), _) => State::Working,
        // A run that failed does not make a node worse than it is.
        (Some((Purpose::Up | Purpose::Detect, _)) | None, Own::Ready(_)) if problems.is_empty() => State::Ready,
        (Some((Purpose::Up | Purpose::Detect, _)) | None, Own::Ready(_)) => State::Degraded,
        (Some((_, Outcome::Failed)), _) => State::Failed,
        (Some((_, Outcome::Interrupted)), _) => State::Interrupted,
        (Some((_, Outcome::Cancelled)), _) => State::Stopped,
        (Some((Purpose::Reset, Outcome::Done)), _) => State::NeverStarted,
        (_, Own::NotReady(..)) => State::NotReady,
        (_, Own::Silent(_) | Own::Unknown) => State::Joined,
    }
}

fn run_problem(run: &RunSummary) -> Option<String> {
    let cause = || run.last_error.as_ref().map(|error| format!(" with {}", error.diagnostic.code)).unwrap_or_default();
    match run.outcome {
        Outcome::Working | Outcome::Done => None,
        Outcome::Failed => Some(format!("the last run failed{}", cause())),
        Outcome::Interrupted => Some("the last run was interrupted before its end".to_owned()),
        Outcome::Cancelled => Some("the last run was stopped before its end".to_owned()),
    }
}

fn unit_problem(unit: &Unit) -> Option<String> {
    let name = &unit.name;
    let last_log_line = unit
        .last_log_line
        .as_ref()
        .map(|last_log_line| format!("; last log line: {last_log_line}"))
        .unwrap_or_default();
    match unit.health {
        Health::Ok | Health::Starting => None,
        Health::Failing => Some(format!("{name} is failing: {}{last_log_line}", unit.state)),
        Health::Stopped | Health::Missing if ONCE.contains(&name.as_str()) => None,
        Health::Stopped => Some(format!("{name} does not run: {}", unit.state)),
        Health::Missing => Some(format!("{name} is not installed")),
    }
}

fn certificate_problem(certificate: &Certificate) -> Option<String> {
    let Certificate { name, days_left, urgency, .. } = certificate;
    match urgency {
        Urgency::Ok | Urgency::Soon => None,
        Urgency::Urgent => Some(format!("certificate {name} expires in {days_left} days")),
        Urgency::Expired => Some(format!("certificate {name} has expired")),
    }
}

fn view(api: Api, own: Own, configured: Vec<String>) -> ApiView {
    let (reachable, why, nodes) = match api {
        Api::Nodes(nodes) => (true, None, nodes),
        Api::Silent(why) | Api::NotAsked(why) => (false, Some(why), BTreeMap::new()),
    };
    let conditions = match own {
        Own::Ready(conditions) | Own::NotReady(conditions, _) => conditions,
        Own::Silent(_) | Own::Unknown => Vec::new(),
    };
    let not_joined = configured.into_iter().filter(|name| reachable && !nodes.contains_key(name)).collect();
    let nodes = nodes.into_iter().map(|(name, node)| (name, node.readiness.is_ready())).collect();
    ApiView { reachable, why, conditions, nodes, not_joined }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::node::status::samples;

    #[test]
    fn every_picture_has_its_state() {
        for (case, facts, state, exit) in samples::all() {
            let status = Status::of(facts);
            assert_eq!((status.state, status.state.exit().code()), (state, exit), "{case}: {:#?}", status.problems);
            let is_fine = matches!(state, State::Ready | State::Working | State::NeverStarted);
            assert_eq!(status.problems.is_empty(), is_fine || case == "not root", "{case}: {:#?}", status.problems);
        }
    }

    #[test]
    fn the_form_for_scripts() {
        let (_, facts, ..) =
            samples::all().into_iter().find(|(case, ..)| *case == "etcd and API server stopped").unwrap();
        insta::assert_json_snapshot!(Status::of(facts));
    }
}
