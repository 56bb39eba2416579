//! What a run on the node found, as the node keeps it and the cluster gets it.

use std::{collections::BTreeMap, fmt};

use explain::Message;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a node is prepared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prep {
    /// Volumes by iSCSI, as Longhorn wants them.
    Iscsi,
    /// Transcoding by an Intel GPU.
    Gpu,
}

impl Prep {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Iscsi, Self::Gpu];

    /// As it is typed, and part of every name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iscsi => "iscsi",
            Self::Gpu => "gpu",
        }
    }
}

impl fmt::Display for Prep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How far a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// A run is under way, or was killed.
    Working,
    /// It was seen to work.
    Ready,
    /// This machine has nothing to be prepared, and that is fine: no Intel GPU.
    NotApplicable,
    /// Everything was done, and this machine cannot: its kernel has no iSCSI. Trying again does not help.
    Incapable,
    /// Something failed; another run may help.
    Failed,
}

impl State {
    /// As labels and tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Ready => "ready",
            Self::NotApplicable => "not-applicable",
            Self::Incapable => "incapable",
            Self::Failed => "failed",
        }
    }

    /// Whether the pod may call itself ready.
    pub const fn is_fine(self) -> bool {
        matches!(self, Self::Ready | Self::NotApplicable)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a run found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Of this format: 1.
    pub version: u32,
    /// What the node is prepared for.
    pub prep: Prep,
    /// How far it is.
    pub state: State,
    /// One sentence for people; where it is not further, why that is so and what to do.
    #[serde(flatten)]
    pub text: Message<String>,
    /// What was seen: `package` to `open-iscsi 2.1.8-1`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: BTreeMap<String, String>,
    /// What such a node should have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// When.
    pub at: Timestamp,
    /// In which boot of the machine.
    pub boot_id: String,
}

impl Report {
    /// Under which name an initiator's is among what was seen.
    pub const INITIATOR_NAME: &str = "initiator-name";

    /// The same without control characters: it comes from another machine, and is about to be shown.
    pub(crate) fn plain(self) -> Self {
        let plain = |text: String| explain::plain(&text).into_owned();
        let requirement =
            |Requirement { name, verdict, detail }| Requirement { name: plain(name), verdict, detail: plain(detail) };
        Self {
            text: self.text.plain(),
            seen: self.seen.into_iter().map(|(what, text)| (plain(what), plain(text))).collect(),
            requirements: self.requirements.into_iter().map(requirement).collect(),
            boot_id: plain(self.boot_id),
            ..self
        }
    }

    /// The code of what is wrong, if something is.
    pub fn code(&self) -> Option<&str> {
        self.text.error().map(|error| error.code.as_str())
    }

    /// The name by which targets know the node.
    pub fn initiator_name(&self) -> Option<&str> {
        self.seen.get(Self::INITIATOR_NAME).map(String::as_str)
    }
}

/// Something a node should have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// `memory`, `package-source`.
    pub name: String,
    /// Whether it has it.
    pub verdict: Verdict,
    /// What was seen.
    pub detail: String,
}

impl Requirement {
    pub(crate) fn new(name: &str, verdict: Verdict, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), verdict, detail: detail.into() }
    }
}

/// Whether a node has what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It has.
    Met,
    /// Less than recommended; it may do.
    Warning,
    /// It has not, and will not work.
    Unmet,
    /// Could not be found out.
    Unknown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::Warning => "warning",
            Self::Unmet => "unmet",
            Self::Unknown => "unknown",
        })
    }
}
