//! Reading what a client sends: no more than it may, no longer than it may, and only while there is room.

use std::time::Duration;

use axum::body::Body;
use futures::TryStreamExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::budget::Share;
use crate::Refusal;

/// Three certificate requests take 2 KiB; a report is a page of JSON.
pub(super) const LIMIT: usize = 64 * 1024;
const DEADLINE: Duration = Duration::from_secs(10);

/// The body as JSON. Its share is to be kept as long as what was read.
pub(super) async fn json<T: DeserializeOwned>(body: Body, share: &mut Share) -> Result<T, Refusal> {
    let bytes = text(body, share).await?;
    serde_json::from_slice(&bytes).map_err(|error| Refusal::Malformed { why: position_of(&error) })
}

/// The body as it is.
pub(super) async fn text(body: Body, share: &mut Share) -> Result<Vec<u8>, Refusal> {
    let slow = |_| Refusal::Malformed { why: "its body came too slowly".to_owned() };
    timeout(DEADLINE, bytes(body, share)).await.map_err(slow)?
}

async fn bytes(body: Body, share: &mut Share) -> Result<Vec<u8>, Refusal> {
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::new();
    let broken = |_| Refusal::Malformed { why: "its body ended too early".to_owned() };
    while let Some(chunk) = chunks.try_next().await.map_err(broken)? {
        if bytes.len() + chunk.len() > LIMIT {
            return Err(Refusal::TooLarge { limit: LIMIT });
        }
        share.grow(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Where the JSON is wrong, without repeating any of it: it goes into the log, and may be anything.
pub(super) fn position_of(error: &serde_json::Error) -> String {
    format!("its body is not the expected JSON at line {}, column {}", error.line(), error.column())
}
