//! How far a node is: an annotation of its Node, written by the node with its kubelet's credential.

use std::{collections::BTreeMap, fmt};

use explain::{Diagnostic, Message};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::order::FORMAT;

/// How far a node is in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeReport {
    /// Of this format: 1.
    pub version: u32,
    /// In which run.
    pub run: String,
    /// How far.
    pub state: NodeState,
    /// One sentence; where the node is not further, why.
    #[serde(flatten)]
    pub text: Message<String>,
    /// All that preflight found, not only the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Diagnostic<String>>,
    /// What was seen: `target`, `from`, `to`, `kernel`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seen: BTreeMap<String, String>,
    /// Grows with what was done; a deadline is counted from its last change.
    #[serde(default)]
    pub progress: u64,
    /// How many times the machine was rebooted for this run.
    #[serde(default)]
    pub reboots: u32,
    /// In which boot of the machine this was written.
    pub boot_id: String,
    /// When, by the node's clock.
    pub at: Timestamp,
}

impl NodeReport {
    /// Of this format.
    pub const FORMAT: u32 = FORMAT;

    /// From the annotation, without control characters: it comes from another machine. None where it cannot be read.
    pub fn read(annotation: &str) -> Option<Self> {
        let read: Self = serde_json::from_str(annotation).ok().filter(|report: &Self| report.version == FORMAT)?;
        let plain = |text: String| explain::plain(&text).into_owned();
        Some(Self {
            text: read.text.plain(),
            problems: read.problems.into_iter().map(Diagnostic::plain).collect(),
            seen: read.seen.into_iter().map(|(key, value)| (plain(key), plain(value))).collect(),
            boot_id: plain(read.boot_id),
            ..read
        })
    }

    /// What the node was given to become: a digest.
    pub fn target(&self) -> Option<&str> {
        self.seen.get("target").map(String::as_str)
    }
}

/// How far a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeState {
    /// It checks whether the work can be done.
    Checking,
    /// It cannot, or not now. Nothing was changed.
    Refused,
    /// It can.
    Checked,
    /// It begins once the label is gone.
    Armed,
    /// It was armed, and there was no commit. Nothing was changed.
    Disarmed,
    /// It works.
    Applying,
    /// It reboots.
    Rebooting,
    /// It works on in the new boot, before the kubelet.
    Stage2,
    /// All is done and seen. It waits to be confirmed.
    Returned,
    /// It was confirmed.
    Done,
    /// It goes back.
    RollingBack,
    /// It is as it was.
    RolledBack,
    /// It could not go back.
    Stuck,
}

impl NodeState {
    /// Whether the node has begun to change itself.
    pub const fn has_begun(self) -> bool {
        !matches!(self, Self::Checking | Self::Refused | Self::Checked | Self::Armed | Self::Disarmed)
    }

    /// Whether there is nothing more to come in this run.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Refused | Self::Disarmed | Self::Done | Self::RolledBack | Self::Stuck)
    }
}

impl fmt::Display for NodeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checking => "checking",
            Self::Refused => "refused",
            Self::Checked => "checked",
            Self::Armed => "armed",
            Self::Disarmed => "disarmed",
            Self::Applying => "applying",
            Self::Rebooting => "rebooting",
            Self::Stage2 => "stage 2",
            Self::Returned => "returned",
            Self::Done => "done",
            Self::RollingBack => "rolling back",
            Self::RolledBack => "rolled back",
            Self::Stuck => "stuck",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_back_without_what_drives_a_terminal() {
        let report = NodeReport {
            version: FORMAT,
            run: "uid-1-1".into(),
            state: NodeState::Refused,
            text: Message::text("2 problems"),
            problems: vec![Diagnostic { code: "BS-IPB-031".into(), message: "\u{1b}[2Jno".into(), hint: "h".into() }],
            seen: [("target".to_owned(), "sha256:ab".to_owned())].into(),
            progress: 3,
            reboots: 0,
            boot_id: "b".into(),
            at: Timestamp::UNIX_EPOCH,
        };
        let text = serde_json::to_string(&report).unwrap();
        insta::assert_snapshot!(text, @r#"{"version":1,"run":"uid-1-1","state":"refused","message":"2 problems","problems":[{"code":"BS-IPB-031","message":"\u001b[2Jno","hint":"h"}],"seen":{"target":"sha256:ab"},"progress":3,"reboots":0,"bootId":"b","at":"1970-01-01T00:00:00Z"}"#);
        let read = NodeReport::read(&text).unwrap();
        assert_eq!((read.target(), read.problems[0].message.contains('\u{1b}')), (Some("sha256:ab"), false));
        assert_eq!(NodeReport::read(&text.replace("refused", "unheard-of")), None);
    }
}
