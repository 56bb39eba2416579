//! What the machine, and a person who has the file, can read about a render.

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Where it is on the machine.
pub const RECORD: &str = "/etc/blackstart/ignition.json";

/// What a config was made from, when, and until when it can be used. Holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// A sum of all that is in the config but this record: the same for the same inputs.
    pub id: String,
    /// The cluster's name.
    pub cluster: String,
    /// The node's name.
    pub node: String,
    /// When it was rendered.
    pub rendered_at: Timestamp,
    /// When the node's secret ends, after which the machine cannot join; `None` for never.
    pub valid_until: Option<Timestamp>,
}

impl Record {
    /// The record inside the bytes of a config of ours.
    pub fn of(config: &[u8]) -> Option<Self> {
        let config: serde_json::Value = serde_json::from_slice(config).ok()?;
        let files = config.pointer("/storage/files")?.as_array()?;
        let file = files.iter().find(|file| file["path"] == RECORD)?;
        let inside = file.pointer("/contents/source")?.as_str()?.strip_prefix("data:;base64,")?;
        serde_json::from_slice(&STANDARD.decode(inside).ok()?).ok()
    }
}
