//! What a node knows of its run: the one thing that must survive whatever happens to the machine.

use std::{collections::BTreeMap, time::Duration};

use explain::{Diagnostic, Message};
use host::{Host, write_atomic};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use upgrades::{NodeReport, NodeState, Order};

use super::NodeError;
use crate::paths;

const FORMAT: u32 = 1;

/// What a node knows of its run. Written and synced before anything that it speaks of is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) version: u32,
    /// The node's name.
    pub(crate) node: String,
    /// The first order of the run, with its id, driver and deadlines.
    pub(crate) order: Order,
    pub(crate) at: At,
    /// One sentence for people.
    pub(crate) text: Message<String>,
    pub(crate) problems: Vec<Diagnostic<String>>,
    /// Why it went back.
    pub(crate) failure: Option<Diagnostic<String>>,
    pub(crate) seen: BTreeMap<String, String>,
    pub(crate) progress: u64,
    pub(crate) reboots: u32,
}

/// Where in its run a node is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum At {
    Checking,
    Refused,
    Checked,
    /// In this boot, and in no other.
    Armed {
        boot: String,
    },
    Disarmed,
    Stage1,
    /// Out of this boot.
    Rebooting {
        boot: String,
        tries: u32,
    },
    Stage2,
    /// Since this time of this boot.
    Returned {
        boot: String,
        since: Duration,
    },
    Done,
    GoingBack,
    /// The same on the way back.
    RebootingBack {
        boot: String,
        tries: u32,
    },
    RolledBack,
    Stuck,
}

impl At {
    pub(crate) const fn state(&self) -> NodeState {
        match self {
            Self::Checking => NodeState::Checking,
            Self::Refused => NodeState::Refused,
            Self::Checked => NodeState::Checked,
            Self::Armed { .. } => NodeState::Armed,
            Self::Disarmed => NodeState::Disarmed,
            Self::Stage1 => NodeState::Applying,
            Self::Rebooting { .. } => NodeState::Rebooting,
            Self::Stage2 => NodeState::Stage2,
            Self::Returned { .. } => NodeState::Returned,
            Self::Done => NodeState::Done,
            Self::GoingBack | Self::RebootingBack { .. } => NodeState::RollingBack,
            Self::RolledBack => NodeState::RolledBack,
            Self::Stuck => NodeState::Stuck,
        }
    }
}

impl Note {
    /// Of a run that begins.
    pub(crate) fn new(node: &str, order: Order) -> Self {
        Self {
            version: FORMAT,
            node: node.to_owned(),
            order,
            at: At::Checking,
            text: Message::text("preflight"),
            problems: Vec::new(),
            failure: None,
            seen: BTreeMap::new(),
            progress: 0,
            reboots: 0,
        }
    }

    /// The one on the disk. One that cannot be read stops everything: it may speak of a node that is half worked on.
    pub(crate) fn read(host: &Host) -> Result<Option<Self>, NodeError> {
        let Some(bytes) = host.disk.read_optional(&paths::note())? else { return Ok(None) };
        let read: Self = serde_json::from_slice(&bytes).map_err(|error| NodeError::BadNote(error.to_string()))?;
        match read.version {
            FORMAT => Ok(Some(read)),
            other => Err(NodeError::BadNote(format!("it has version {other}, this program knows {FORMAT}"))),
        }
    }

    pub(crate) fn write(&self, host: &Host) -> Result<(), NodeError> {
        let json = serde_json::to_vec(self).map_err(|error| NodeError::BadNote(error.to_string()))?;
        Ok(write_atomic(&*host.disk, &paths::note(), &json, 0o600)?)
    }

    /// The same, further on.
    #[must_use]
    pub(crate) fn at(mut self, at: At, text: impl Into<String>) -> Self {
        self.at = at;
        self.text = Message::text(text);
        self.progress += 1;
        self
    }

    /// The same, where something went wrong. The first cause counts.
    #[must_use]
    pub(crate) fn failed(mut self, at: At, failure: Diagnostic<String>) -> Self {
        self.failure.get_or_insert_with(|| failure.clone());
        self.at = at;
        self.text = Message::Error(failure);
        self.progress += 1;
        self
    }

    /// What is reported to the cluster.
    pub(crate) fn report(&self, boot_id: &str, now: Timestamp) -> NodeReport {
        NodeReport {
            version: NodeReport::FORMAT,
            run: self.order.run.clone(),
            state: self.at.state(),
            text: self.text.clone(),
            problems: self.problems.clone(),
            seen: self.seen.clone(),
            progress: self.progress,
            reboots: self.reboots,
            boot_id: boot_id.to_owned(),
            at: now,
        }
    }
}
