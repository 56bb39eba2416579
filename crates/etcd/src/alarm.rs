//! Alarms: what makes etcd refuse to work until a person has looked at it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Etcd, EtcdError, number};

/// Something a member has raised the alarm about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Alarm {
    /// The member's number.
    #[serde(default, rename = "memberID", deserialize_with = "number")]
    pub member: u64,
    /// What about.
    #[serde(rename = "alarm")]
    pub kind: AlarmKind,
}

/// What an alarm is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "UPPERCASE", serialize = "lowercase"))]
pub enum AlarmKind {
    /// The database has reached its limit; nothing is written any more.
    NoSpace,
    /// Members do not hold the same.
    Corrupt,
}

impl AlarmKind {
    /// What it means, for a person.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::NoSpace => "the database has reached its limit, and nothing is written any more",
            Self::Corrupt => "its data is not that of the other members",
        }
    }
}

#[derive(Deserialize)]
struct Alarms {
    #[serde(default)]
    alarms: Vec<Alarm>,
}

impl Etcd {
    /// The alarms of all members.
    pub async fn alarms(&self) -> Result<Vec<Alarm>, EtcdError> {
        Ok(self.call::<Alarms>("/v3/maintenance/alarm", json!({ "action": "GET" })).await?.alarms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_a_real_etcd_are_understood() {
        let read = |text: &str| serde_json::from_str::<Alarms>(text).unwrap().alarms;
        assert_eq!(read(r#"{"header":{"cluster_id":"1"}}"#), []);
        assert_eq!(
            read(r#"{"alarms":[{"memberID":"5","alarm":"NOSPACE"},{"memberID":"6","alarm":"CORRUPT"}]}"#),
            [Alarm { member: 5, kind: AlarmKind::NoSpace }, Alarm { member: 6, kind: AlarmKind::Corrupt }]
        );
    }
}
