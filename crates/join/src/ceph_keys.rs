//! A node's keys of Ceph on their way to it.

use ceph::Handed;

use crate::{
    envelope::{self, Unusable},
    wire::CephRequest,
};

const PURPOSE: &str = "blackstart ceph keys v1";

/// Only the node that made this request with this secret can open it.
pub(crate) fn close(handed: &Handed, secret: &[u8], request: &CephRequest) -> Result<String, Unusable> {
    let text = serde_json::to_vec(handed).map_err(|_| Unusable)?;
    envelope::close(secret, PURPOSE, &exchange(request), text)
}

pub(crate) fn open(envelope: &str, secret: &[u8], request: &CephRequest) -> Result<Handed, Unusable> {
    serde_json::from_slice(&envelope::open(secret, PURPOSE, &exchange(request), envelope)?).map_err(|_| Unusable)
}

fn exchange(request: &CephRequest) -> [&[u8]; 3] {
    [&request.cluster, &request.node, &request.challenge].map(String::as_bytes)
}
