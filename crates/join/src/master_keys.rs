//! What a master needs that all masters share.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    envelope::{self, Unusable},
    wire::MasterRequest,
};

const PURPOSE: &str = "blackstart master keys v1";

/// The cluster's keys. They travel only in an envelope, and cannot be printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MasterKeys {
    /// CAs and service account key, PEM, by their path below `/etc/kubernetes`.
    pub files: BTreeMap<String, String>,
    /// `encryption.yaml`, with the key for encryption at rest.
    pub encryption: String,
    /// `join.key`; absent in a cluster that was not sealed.
    pub join_key: Option<String>,
    /// For a master that bootstraps etcd together with the others: what its member starts with.
    pub bootstrapping: Option<String>,
}

impl fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MasterKeys").finish_non_exhaustive()
    }
}

impl MasterKeys {
    /// Only the master that made this request with this secret can open it.
    pub(crate) fn close(&self, secret: &[u8], request: &MasterRequest) -> Result<String, Unusable> {
        let text = serde_json::to_vec(self).map_err(|_| Unusable)?;
        envelope::close(secret, PURPOSE, &exchange(request), text)
    }

    pub(crate) fn open(envelope: &str, secret: &[u8], request: &MasterRequest) -> Result<Self, Unusable> {
        serde_json::from_slice(&envelope::open(secret, PURPOSE, &exchange(request), envelope)?).map_err(|_| Unusable)
    }
}

fn exchange(request: &MasterRequest) -> [&[u8]; 3] {
    [&request.cluster, &request.node, &request.challenge].map(String::as_bytes)
}
