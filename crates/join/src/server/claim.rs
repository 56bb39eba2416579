//! What joining and reporting before that have in common: who somebody claims to be, and with which credential.

use super::{Service, authority::stored_token};
use crate::{Refusal, admit::Key, secret::moment, wire::ClaimedCredential};

/// As long as a DNS name can be.
const LONGEST_NAME: usize = 253;

/// Names go into the log and into answers, so nothing else than names gets any further.
pub(super) fn check_names(cluster: &str, node: &str, credential: &ClaimedCredential) -> Result<(), Refusal> {
    let of_credential = match credential {
        ClaimedCredential::NodeSecret { node, .. } => is_name(node),
        ClaimedCredential::Token { .. } => true,
    };
    if is_name(cluster) && is_name(node) && of_credential {
        return Ok(());
    }
    Err(Refusal::Malformed { why: "a name in it is none".to_owned() })
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(fits)
}

/// The credential as this master knows it.
pub(super) async fn key(service: &Service, credential: &ClaimedCredential) -> Result<Key, Refusal> {
    match credential {
        ClaimedCredential::NodeSecret { node, expires } => {
            let join_key = service.setup.holdings.join_key().ok_or(Refusal::NoJoinKey)?;
            Ok(join_key.node_secret(node, moment(*expires)).into())
        }
        ClaimedCredential::Token { id } => Ok(stored_token(service, id).await?.into()),
    }
}
