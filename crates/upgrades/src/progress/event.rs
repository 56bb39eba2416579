//! An event as it is sent: `CloudEvents` 1.0, structured JSON. Pure.

use jiff::Timestamp;
use serde::Serialize;

use super::{Event, Whose};
use crate::{NodeState, NodeUpgrade, Phase};

const TYPE: &str = "io.blackstart.reprovision.phase";

/// An event as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CloudEvent {
    specversion: &'static str,
    /// The uid of the object and the number of the event: the same whenever it is sent again.
    pub id: String,
    source: String,
    #[serde(rename = "type")]
    kind: &'static str,
    subject: String,
    time: Timestamp,
    datacontenttype: &'static str,
    /// What is reported.
    pub data: Data,
    /// The number of the event, for the answer.
    #[serde(skip)]
    pub seq: u64,
}

/// What is reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// How far the cluster is with the node.
    pub phase: Phase,
    /// How far the node says that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_state: Option<NodeState>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// One sentence.
    pub message: String,
    /// What the node was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What it is to become.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// How many times the work was begun.
    pub attempt: u32,
    /// In which run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// As the API calls the node.
    #[serde(flatten)]
    pub whose: Whose,
}

impl CloudEvent {
    /// An event of this object.
    pub fn new(object: &NodeUpgrade, event: &Event, whose: &Whose) -> Self {
        let Event { seq, at, run, phase, code, message, from, to, attempt, node_state } = event.clone();
        let node = object.node();
        Self {
            specversion: "1.0",
            id: format!("{}/{seq}", object.metadata.uid.as_deref().unwrap_or_default()),
            source: format!("/blackstart/nodeupgrades/{node}"),
            kind: TYPE,
            subject: node.to_owned(),
            time: at,
            datacontenttype: "application/json",
            data: Data { phase, node_state, code, message, from, to, attempt, run, whose: whose.clone() },
            seq,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeUpgradeSpec;

    #[test]
    fn an_event_is_structured_json() {
        let mut object = NodeUpgrade::new("worker-01", NodeUpgradeSpec::default());
        object.metadata.uid = Some("3f2a".into());
        let full = Event {
            seq: 7,
            at: Timestamp::from_second(1_767_225_600).unwrap(),
            run: Some("3f2a-1-2".into()),
            phase: Phase::RollingBack,
            code: Some("BS-UPG-010".into()),
            message: "no progress for 3600 s".into(),
            from: Some("4.16.3".into()),
            to: Some("4.17.0".into()),
            attempt: 2,
            node_state: Some(NodeState::Applying),
        };
        let whose =
            Whose { worker_id: Some("kube-w-1".into()), cluster_id: Some("c1".into()), region: Some("eu-de".into()) };
        let bare = Event { message: "waits".into(), run: None, ..Event::default() };
        for (name, event, whose) in [("full", full, whose), ("bare", bare, Whose::default())] {
            let json = serde_json::to_string_pretty(&CloudEvent::new(&object, &event, &whose)).unwrap();
            insta::assert_snapshot!(name, json);
        }
    }
}
