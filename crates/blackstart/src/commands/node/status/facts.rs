//! What was seen of the node. What could not be seen is here with the reason.

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;
use nodekit::run_record::RunSummary;
use operations::readiness::Readiness;
use serde::Serialize;
use spec::BootstrapRole;

/// Something that was looked at, or why it could not be.
pub(super) type Seen<T> = Result<T, String>;

/// Everything that was seen.
pub(super) struct Facts {
    pub(super) now: Timestamp,
    pub(super) boot_id: String,
    pub(super) identity: Identity,
    /// A bootstrap node whose work is done.
    pub(super) is_retired: bool,
    /// When the node joined, as it noted itself.
    pub(super) joined_at: Option<Timestamp>,
    /// The last bootstrap or reset, with what has become of it.
    pub(super) run: Seen<Option<RunSummary>>,
    /// What keeps the node from writing down how far it is.
    pub(super) disk: Option<String>,
    pub(super) units: Seen<Vec<Unit>>,
    pub(super) api: Api,
    pub(super) certificates: Seen<Vec<Certificate>>,
}

/// Which node this is, as far as that is known.
#[derive(Debug, Default)]
pub(super) struct Identity {
    pub(super) node: Option<String>,
    pub(super) role: Option<BootstrapRole>,
    pub(super) cluster: Option<String>,
    /// The names of all nodes in cluster.yaml.
    pub(super) nodes: Vec<String>,
    /// Why that is not known, or only from what was noted before.
    pub(super) failure: Option<String>,
}

/// A unit as systemd sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Unit {
    pub(super) name: String,
    pub(super) health: Health,
    /// systemd's own words: `active (running)`.
    pub(super) state: String,
    /// When it came to that.
    pub(super) since: Option<Timestamp>,
    /// How often systemd has started it again by itself.
    pub(super) restarts: u32,
    /// The line that says why it fails.
    pub(super) last_log_line: Option<String>,
}

/// How a unit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Health {
    /// It runs, or has done what it is for.
    Ok,
    /// It is about to run.
    Starting,
    /// It ended against its will, perhaps to be started again.
    Failing,
    /// It does not run, and nothing starts it.
    Stopped,
    /// It is not installed.
    Missing,
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Starting => "starting",
            Self::Failing => "FAILING",
            Self::Stopped => "STOPPED",
            Self::Missing => "not installed",
        })
    }
}

/// What the API server says.
pub(super) enum Api {
    /// All nodes of the cluster, by name.
    Nodes(BTreeMap<String, ApiNode>),
    /// It does not answer, or says no.
    Silent(String),
    /// It was not asked: there is nothing to ask it with.
    NotAsked(String),
}

/// A node as the API knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiNode {
    pub(super) boot_id: String,
    pub(super) readiness: Readiness,
    pub(super) conditions: Vec<Condition>,
}

/// A condition of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Condition {
    /// `Ready`, `MemoryPressure`, …
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// `True`, `False`, `Unknown`.
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) message: String,
    /// When it came to that.
    pub(super) since: Option<Timestamp>,
}

/// A certificate on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Certificate {
    pub(super) name: String,
    pub(super) not_after: Timestamp,
    /// Whole days until the end, negative after it.
    pub(super) days_left: i64,
    pub(super) urgency: pki::Urgency,
}
