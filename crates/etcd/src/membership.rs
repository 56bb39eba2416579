//! Changes of membership. Whether one may be made is decided before, by `operations::quorum`.

use serde::Deserialize;
use serde_json::json;

use crate::{Etcd, EtcdError, Member};

/// etcd's message for a learner that has not received everything yet.
const NOT_CAUGHT_UP: &str = "in sync with leader";
/// And for a cluster that has changed a moment ago, or has members that do not answer.
const NOT_HEALTHY: &str = "unhealthy cluster";

#[derive(Deserialize)]
struct Added {
    member: Member,
}

#[derive(Deserialize)]
struct Nothing {}

impl Etcd {
    /// Announces a member without a vote. It is to be started next, with every member and itself as the initial cluster.
    pub async fn add_learner(&self, peer_url: &str) -> Result<Member, EtcdError> {
        let body = json!({ "peerURLs": [peer_url], "isLearner": true });
        Ok(self.call::<Added>("/v3/cluster/member/add", body).await?.member)
    }

    /// Gives a learner its vote. etcd refuses while it has not caught up: see [`EtcdError::is_not_yet`].
    pub async fn promote(&self, id: u64) -> Result<(), EtcdError> {
        self.call::<Nothing>("/v3/cluster/member/promote", json!({ "ID": id.to_string() })).await.map(drop)
    }

    /// Takes a member out for good.
    pub async fn remove(&self, id: u64) -> Result<(), EtcdError> {
        self.call::<Nothing>("/v3/cluster/member/remove", json!({ "ID": id.to_string() })).await.map(drop)
    }
}

impl EtcdError {
    /// Whether etcd answered that the change can be made soon: a learner catches up, a new member becomes healthy.
    pub fn is_not_yet(&self) -> bool {
        match self {
            Self::Refused { message, .. } => message.contains(NOT_CAUGHT_UP) || message.contains(NOT_HEALTHY),
            Self::Unreachable { .. } => true,
            Self::Garbled { .. } | Self::CutShort { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_by_itself_differs_from_what_does_not() {
        for (message, expected) in [
            ("etcdserver: can only promote a learner member which is in sync with leader", true),
            ("etcdserver: unhealthy cluster", true),
            ("etcdserver: member not found", false),
            ("etcdserver: too many learner members in cluster", false),
        ] {
            let body = json!({ "message": message }).to_string();
            assert_eq!(EtcdError::refused("https://m:2379", 400, &body).is_not_yet(), expected, "{message}");
        }
    }
}
