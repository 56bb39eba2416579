//! The rotation as all masters see it: one Secret, there from its beginning to its end.
//!
//! `blackstart pki rotate-ca` writes how far it is and whose turn it is; each master adds what it has reached. The new keys
//! are in it under a lock of their own: the key with which Secrets are encrypted in etcd, which only masters have. So
//! neither somebody who may read Secrets nor somebody who has the old authority's key gets hold of the new ones.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use explain::Explain;
use join::envelope;
use k8s_openapi::api::core::v1::Secret;
use pki::{Stage, Successors};
use serde_json::{Value, json};

use crate::codes;

/// Its name.
pub const NAME: &str = "blackstart-ca-rotation";
/// Where it is.
pub const NAMESPACE: &str = "kube-system";

const PURPOSE: &str = "blackstart successors v1";
const STAGE: &str = "stage";
const TURN: &str = "turn";
const SUCCESSORS: &str = "successors";
/// Before the name of a master.
const REACHED: &str = "reached.";
/// In place of a master's name: the kubelets and whatever else every node has.
const NODES: &str = "*";

/// A rotation that goes on.
#[derive(Clone, PartialEq, Eq)]
pub struct Rotation {
    /// Where everybody is to be.
    pub stage: Stage,
    /// Who is to go there now.
    pub turn: Turn,
    /// Which stage each master's control plane has reached.
    pub reached: BTreeMap<String, Stage>,
    sealed: String,
}

/// Who is to go to the next stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// The control plane of one master.
    Master(String),
    /// Everything else on every node.
    Nodes,
}

impl Turn {
    fn text(&self) -> &str {
        match self {
            Self::Master(name) => name,
            Self::Nodes => NODES,
        }
    }
}

/// The Secret cannot be read, or its keys cannot be opened here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the Secret {NAMESPACE}/{NAME} is not what a rotation of this cluster's authorities writes")]
pub struct Unreadable;

impl Explain for Unreadable {
    fn code(&self) -> explain::Code {
        codes::NO_ROTATION
    }
}

impl Rotation {
    /// Before the first turn.
    pub fn new(successors: &Successors, first: &str, encryption: &str) -> Result<Self, Unreadable> {
        let text = serde_json::to_vec(successors).map_err(|_| Unreadable)?;
        let sealed = envelope::close(encryption.as_bytes(), PURPOSE, &[], text).map_err(|_| Unreadable)?;
        Ok(Self { stage: Stage::Trust, turn: Turn::Master(first.to_owned()), reached: BTreeMap::new(), sealed })
    }

    /// As it was read.
    pub fn of(secret: &Secret) -> Result<Self, Unreadable> {
        let data = secret.data.as_ref().ok_or(Unreadable)?;
        let text = |key: &str| data.get(key).and_then(|value| String::from_utf8(value.0.clone()).ok());
        let turn = text(TURN).ok_or(Unreadable)?;
        let reached = data.keys().filter_map(|key| Some((key, key.strip_prefix(REACHED)?)));
        Ok(Self {
            stage: stage(&text(STAGE).unwrap_or_default()).ok_or(Unreadable)?,
            turn: if turn == NODES { Turn::Nodes } else { Turn::Master(turn) },
            reached: reached.filter_map(|(key, node)| Some((node.to_owned(), stage(&text(key)?)?))).collect(),
            sealed: text(SUCCESSORS).ok_or(Unreadable)?,
        })
    }

    /// The authorities to be; `encryption` is this master's `encryption.yaml`.
    pub fn successors(&self, encryption: &str) -> Result<Successors, Unreadable> {
        let text = envelope::open(encryption.as_bytes(), PURPOSE, &[], &self.sealed).map_err(|_| Unreadable)?;
        serde_json::from_slice(&text).map_err(|_| Unreadable)
    }

    /// The Secret that begins it.
    pub fn object(&self) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": NAME, "namespace": NAMESPACE },
            "type": "blackstart.io/ca-rotation",
            "data": { STAGE: encoded(self.stage.name()), TURN: encoded(self.turn.text()), SUCCESSORS: encoded(&self.sealed) },
        })
    }

    /// What is patched when it is somebody's turn.
    pub fn order(stage: Stage, turn: &Turn) -> Value {
        json!({ "data": { STAGE: encoded(stage.name()), TURN: encoded(turn.text()) } })
    }

    /// What a master patches that has reached a stage.
    pub fn report(node: &str, stage: Stage) -> Value {
        json!({ "data": { format!("{REACHED}{node}"): encoded(stage.name()) } })
    }

    /// True if this master has something to do.
    pub(crate) fn is_turn_of(&self, node: &str) -> bool {
        self.turn == Turn::Master(node.to_owned()) && self.reached.get(node).is_none_or(|reached| *reached < self.stage)
    }
}

fn stage(name: &str) -> Option<Stage> {
    Stage::ALL.into_iter().find(|stage| stage.name() == name)
}

fn encoded(text: &str) -> Value {
    BASE64_STANDARD.encode(text).into()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn rotation() -> (Rotation, Successors) {
        let successors = Successors::make("demo", Timestamp::now()).unwrap();
        (Rotation::new(&successors, "master-01", "the key at rest").unwrap(), successors)
    }

    #[test]
    fn what_is_written_is_read_and_only_masters_can_open_it() {
        let (begun, successors) = rotation();
        let text = begun.object().to_string();
        assert!(!text.contains("PRIVATE") && !text.contains(&BASE64_STANDARD.encode("-----BEGIN")), "{text}");
        let secret: Secret = serde_json::from_value(begun.object()).unwrap();
        let read = Rotation::of(&secret).unwrap();
        assert!(read == begun);
        assert!(read.successors("the key at rest").unwrap() == successors);
        assert!(read.successors("another key").is_err());
    }

    #[test]
    fn a_master_acts_in_its_turn_and_once() {
        let (mut rotation, _) = rotation();
        let turns = |rotation: &Rotation| ["master-01", "master-02"].map(|name| rotation.is_turn_of(name));
        assert_eq!(turns(&rotation), [true, false]);
        rotation.reached.insert("master-01".into(), Stage::Trust);
        assert_eq!(turns(&rotation), [false, false]);
        rotation.stage = Stage::Sign;
        assert_eq!(turns(&rotation), [true, false]);
        rotation.turn = Turn::Nodes;
        assert_eq!(turns(&rotation), [false, false]);
    }

    #[test]
    fn what_masters_report_is_read() {
        let (begun, _) = rotation();
        let mut object = begun.object();
        for (key, value) in Rotation::report("master-02", Stage::Sign)["data"].as_object().unwrap() {
            object["data"][key] = value.clone();
        }
        let read = Rotation::of(&serde_json::from_value(object).unwrap()).unwrap();
        assert_eq!(read.reached, BTreeMap::from([("master-02".to_owned(), Stage::Sign)]));
    }

    #[test]
    fn what_is_something_else_is_refused() {
        for object in [json!({}), json!({ "data": {} }), json!({ "data": { "stage": encoded("trust") } })] {
            assert!(Rotation::of(&serde_json::from_value(object).unwrap()).is_err());
        }
    }
}
