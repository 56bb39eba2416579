//! etcd through its JSON gateway, on the client port and with the same TLS as every other client.
//!
//! The gateway serves the whole API of etcd as `POST` requests with JSON bodies, so neither protoc nor a gRPC stack is
//! needed. 64-bit numbers come as text, and fields that are zero are left out.

mod access;
mod alarm;
mod checksum;
pub mod codes;
mod error;
mod initial;
mod keys;
mod leader;
mod lock;
mod membership;
mod membership_lock;
pub mod quorum;
mod snapshot;
pub mod survey;

use std::time::Duration;

pub use access::{Access, NoAccess};
pub use alarm::{Alarm, AlarmKind};
pub use checksum::{BadSnapshot, Checksum};
pub use error::EtcdError;
pub use initial::{DATA, DATA_DIR, INITIAL, Initial, LOG, State, client_url, peer_url};
pub use leader::successor;
pub use lock::{Lease, Lock};
pub use membership_lock::{Asked, MembershipLock};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::json;
pub use snapshot::Snapshot;

/// How long one request may take. etcd answers in milliseconds; a member without a leader holds requests back.
const LIMIT: Duration = Duration::from_secs(5);

/// A member of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Member {
    /// Its number.
    #[serde(rename = "ID", deserialize_with = "number")]
    pub id: u64,
    /// Its name; empty until it has started for the first time.
    #[serde(default)]
    pub name: String,
    /// Where the other members reach it.
    #[serde(default, rename = "peerURLs")]
    pub peer_urls: Vec<String>,
    /// Where clients reach it; empty until it has started for the first time.
    #[serde(default, rename = "clientURLs")]
    pub client_urls: Vec<String>,
    /// Follows the log but has no vote.
    #[serde(default, rename = "isLearner")]
    pub is_learner: bool,
}

impl Member {
    /// True once it has been there: a member that was only announced has not published yet where its clients reach it.
    pub fn has_started(&self) -> bool {
        !self.client_urls.is_empty()
    }
}

/// What a member says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Status {
    /// etcd's version.
    pub version: String,
    /// The leader's number; zero while there is none.
    #[serde(default, deserialize_with = "number")]
    pub leader: u64,
    /// Size of the database in bytes.
    #[serde(default, rename = "dbSize", deserialize_with = "number")]
    pub db_size: u64,
    /// How much of it holds something; a defragmentation gives the rest back.
    #[serde(default, rename = "dbSizeInUse", deserialize_with = "number")]
    pub db_size_in_use: u64,
    /// The size at which it refuses to write; zero where it does not say.
    #[serde(default, rename = "dbSizeQuota", deserialize_with = "number")]
    pub db_size_quota: u64,
    /// How far its log is.
    #[serde(default, rename = "raftIndex", deserialize_with = "number")]
    pub raft_index: u64,
    /// Which election its log is of.
    #[serde(default, rename = "raftTerm", deserialize_with = "number")]
    pub raft_term: u64,
    /// What is wrong with it, as etcd reports it: a full disk, corruption.
    #[serde(default)]
    pub errors: Vec<String>,
    header: Header,
}

impl Status {
    /// The number of the member that answered.
    pub fn member_id(&self) -> u64 {
        self.header.member_id
    }

    /// The number of the cluster that it is part of.
    pub fn cluster_id(&self) -> u64 {
        self.header.cluster_id
    }

    /// The newest revision it has.
    pub fn revision(&self) -> u64 {
        self.header.revision
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Header {
    #[serde(default, deserialize_with = "number")]
    cluster_id: u64,
    #[serde(default, deserialize_with = "number")]
    member_id: u64,
    #[serde(default, deserialize_with = "number")]
    revision: u64,
}

#[derive(Deserialize)]
struct Members {
    members: Vec<Member>,
}

/// One member of etcd.
#[derive(Clone)]
pub struct Etcd {
    http: reqwest::Client,
    url: String,
}

impl Etcd {
    /// The member at this URL, reached with a client that has etcd's CA and a certificate of it.
    pub fn new(http: reqwest::Client, url: impl Into<String>) -> Self {
        Self { http, url: url.into() }
    }

    /// What the member says of itself.
    pub async fn status(&self) -> Result<Status, EtcdError> {
        self.call("/v3/maintenance/status", json!({})).await
    }

    /// All members, as the majority of them agrees: an answer means that etcd has quorum.
    pub async fn members(&self) -> Result<Vec<Member>, EtcdError> {
        Ok(self.call::<Members>("/v3/cluster/member/list", json!({ "linearizable": true })).await?.members)
    }

    /// All members as this one knows them, which it answers without a majority, too.
    pub async fn known_members(&self) -> Result<Vec<Member>, EtcdError> {
        Ok(self.call::<Members>("/v3/cluster/member/list", json!({})).await?.members)
    }

    async fn call<R: DeserializeOwned>(&self, path: &str, body: impl Serialize) -> Result<R, EtcdError> {
        let url = format!("{}{path}", self.url);
        let unreachable = |source| EtcdError::Unreachable { url: url.clone(), source };
        let answer = self.http.post(&url).timeout(LIMIT).json(&body).send().await.map_err(unreachable)?;
        let status = answer.status();
        let text = answer.text().await.map_err(unreachable)?;
        if !status.is_success() {
            return Err(EtcdError::refused(&url, status.as_u16(), &text));
        }
        serde_json::from_str(&text).map_err(|source| EtcdError::Garbled { url: url.clone(), source })
    }
}

fn number<'de, D: Deserializer<'de>>(text: D) -> Result<u64, D::Error> {
    String::deserialize(text)?.parse().map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_a_real_etcd_are_understood() {
        let status: Status = serde_json::from_str(
            r#"{"header":{"cluster_id":"1","member_id":"8700190441","revision":"4","raft_term":"2"},
                "version":"3.7.3","dbSize":"20480","dbSizeInUse":"16384","dbSizeQuota":"2147483648",
                "leader":"8700190441","raftIndex":"9","raftTerm":"2"}"#,
        )
        .unwrap();
        assert_eq!((status.cluster_id(), status.db_size_in_use, status.db_size_quota), (1, 16384, 2_147_483_648));
        assert_eq!(
            (status.member_id(), status.leader, status.version.as_str()),
            (8_700_190_441, 8_700_190_441, "3.7.3")
        );
        assert!(status.errors.is_empty());

        let Members { members } = serde_json::from_str(
            r#"{"members":[{"ID":"1","name":"master-01","peerURLs":["https://10.0.0.1:2380"]},
                           {"ID":"2","peerURLs":["https://10.0.0.2:2380"],"isLearner":true}]}"#,
        )
        .unwrap();
        assert_eq!(
            members.iter().map(|member| (member.id, member.is_learner)).collect::<Vec<_>>(),
            [(1, false), (2, true)]
        );
    }
}
