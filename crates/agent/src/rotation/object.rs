//! The rotation as all masters see it: one Secret, there from its beginning to its end.
//!
//! `blackstart pki rotate` writes what is replaced, how far it is and whose turn it is; each master adds what it has reached.
//! The new keys are in it under two locks of their own: the key with which Secrets are encrypted in etcd, which only masters
//! have, and one that was made for this rotation (`pass`). So neither a user who may read Secrets, nor the holder of an
//! old CA's key, nor the holder of a copy of all of a master's files gets the new ones. The key of Secrets may be
//! among those that are replaced: they are locked with each of the old and the new one, so that they can be opened at
//! every stage.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use join::envelope;
use k8s_openapi::api::core::v1::Secret;
use pki::Stage;
use render::Encryption;
use serde_json::{Value, json};

use super::{Subject, Subjects, Successors};
use crate::error::Unreadable;

/// Its name.
pub const NAME: &str = "blackstart-rotation";
/// Where it is.
pub const NAMESPACE: &str = "kube-system";

const PURPOSE: &str = "blackstart successors v1";
const SUBJECTS: &str = "subjects";
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
    /// What is replaced.
    pub subjects: Subjects,
    /// Where everybody is to be.
    pub stage: Stage,
    /// Who is to go there now.
    pub turn: Turn,
    /// Which stage each master's control plane has reached.
    pub reached: BTreeMap<String, Stage>,
    /// One envelope for each key that opens it.
    sealed: Vec<String>,
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

impl Rotation {
    /// Before the first turn. `encryption` is this master's `encryption.yaml`.
    pub fn new(
        subjects: &Subjects,
        successors: &Successors,
        first: &str,
        encryption: &str,
        pass: &str,
    ) -> Result<Self, Unreadable> {
        let text = serde_json::to_vec(successors).map_err(|_| Unreadable)?;
        let close = |lock: &String| {
            envelope::close(lock.as_bytes(), PURPOSE, &[pass.as_bytes()], text.clone()).map_err(|_| Unreadable)
        };
        let new = successors.encryption();
        let new = new.iter().flat_map(Encryption::keys).map(|key| &key.secret);
        Ok(Self {
            subjects: subjects.clone(),
            stage: Stage::Trust,
            turn: Turn::Master(first.to_owned()),
            reached: BTreeMap::new(),
            sealed: locks(encryption).iter().chain(new).map(close).collect::<Result<_, _>>()?,
        })
    }

    /// As it was read.
    pub fn of(secret: &Secret) -> Result<Self, Unreadable> {
        let data = secret.data.as_ref().ok_or(Unreadable)?;
        let text = |key: &str| data.get(key).and_then(|value| String::from_utf8(value.0.clone()).ok());
        let turn = text(TURN).ok_or(Unreadable)?;
        let reached = data.keys().filter_map(|key| Some((key, key.strip_prefix(REACHED)?)));
        Ok(Self {
            subjects: Subject::read(&text(SUBJECTS).unwrap_or_default()).ok_or(Unreadable)?,
            stage: stage(&text(STAGE).unwrap_or_default()).ok_or(Unreadable)?,
            turn: if turn == NODES { Turn::Nodes } else { Turn::Master(turn) },
            reached: reached.filter_map(|(key, node)| Some((node.to_owned(), stage(&text(key)?)?))).collect(),
            sealed: text(SUCCESSORS).ok_or(Unreadable)?.split_whitespace().map(str::to_owned).collect(),
        })
    }

    /// The keys to be; `encryption` is this master's `encryption.yaml`, at whatever stage.
    pub fn successors(&self, encryption: &str, pass: &str) -> Result<Successors, Unreadable> {
        let exchange = [pass.as_bytes()];
        let open = |lock: &String| {
            let opened = |sealed: &String| envelope::open(lock.as_bytes(), PURPOSE, &exchange, sealed).ok();
            self.sealed.iter().find_map(opened)
        };
        let text = locks(encryption).iter().find_map(open).ok_or(Unreadable)?;
        serde_json::from_slice(&text).map_err(|_| Unreadable)
    }

    /// The Secret that begins it.
    pub fn object(&self) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": NAME, "namespace": NAMESPACE },
            "type": "blackstart.io/rotation",
            "data": {
                SUBJECTS: encoded(&Subject::list(&self.subjects)),
                STAGE: encoded(self.stage.name()),
                TURN: encoded(self.turn.text()),
                SUCCESSORS: encoded(&self.sealed.join("\n")),
            },
        })
    }

    /// What is patched when it is a node's turn.
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

/// The keys of a configuration of encryption at rest. One that is not ours stays as it is, so all of it is
/// as good as a key.
fn locks(encryption: &str) -> Vec<String> {
    let keys = Encryption::parse(encryption).map(|parsed| parsed.keys().map(|key| key.secret.clone()).collect());
    keys.unwrap_or_else(|| vec![encryption.to_owned()])
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

    const AT_REST: &str = "a configuration that is not ours";
    const PASS: &str = "made for this rotation";

    fn rotation_of(subjects: &Subjects, encryption: &str) -> (Rotation, Successors) {
        let text = "cluster: {name: demo}\nnodes:\n- {name: master-01, ip: 192.168.1.11, roles: [master], \
                    hardware: {mac_addresses: ['52:54:00:00:00:01']}}\n";
        let cluster = spec::check_text(text).cluster.unwrap();
        let successors = Successors::make(&cluster, subjects, Timestamp::now()).unwrap();
        (Rotation::new(subjects, &successors, "master-01", encryption, PASS).unwrap(), successors)
    }

    fn rotation() -> (Rotation, Successors) {
        rotation_of(&Subjects::from([Subject::Ca, Subject::Join]), AT_REST)
    }

    /// Whatever the configuration of a master is on the way, it opens; what only the old or another key has, does not.
    #[test]
    fn the_keys_open_at_every_stage_of_the_key_that_locks_them() {
        let old = Encryption::first("b2xk", None);
        let (begun, successors) = rotation_of(&Subjects::from(Subject::ALL), &old.text());
        let new = successors.encryption().unwrap();
        for stage in Stage::ALL {
            let at_rest = Encryption { providers: stage.ordered(old.providers.clone(), new.providers.clone()) };
            assert!(begun.successors(&at_rest.text(), PASS).is_ok_and(|opened| opened == successors), "{stage:?}");
        }
        assert!(begun.successors(&Encryption::first("YW5vdGhlcg==", None).text(), PASS).is_err());
        assert!(begun.successors(&old.text(), "of another rotation").is_err(), "a copy of a master is not enough");
    }

    #[test]
    fn what_is_written_is_read_and_only_masters_can_open_it() {
        let (begun, successors) = rotation();
        let text = begun.object().to_string();
        assert!(!text.contains("PRIVATE") && !text.contains(&BASE64_STANDARD.encode("-----BEGIN")), "{text}");
        let secret: Secret = serde_json::from_value(begun.object()).unwrap();
        let read = Rotation::of(&secret).unwrap();
        assert!(read == begun);
        assert!(read.successors(AT_REST, PASS).unwrap() == successors);
        assert!(read.successors("another key", PASS).is_err());
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
        for object in
            [json!({}), json!({ "data": {} }), json!({ "data": { "stage": encoded("trust"), "turn": encoded("*") } })]
        {
            assert!(Rotation::of(&serde_json::from_value(object).unwrap()).is_err());
        }
    }
}
