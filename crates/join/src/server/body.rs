//! Reading what a client sends: no more than it may, no longer than it may.

use std::time::Duration;

use axum::body::Body;
use futures::TryStreamExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::Refusal;

/// Three certificate requests take 2 KiB; a report is a page of JSON.
pub(super) const LIMIT: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// The body as JSON.
pub(super) async fn json<T: DeserializeOwned>(body: Body) -> Result<T, Refusal> {
    let malformed = |why: String| Refusal::Malformed { why };
    let bytes =
        timeout(PATIENCE, bytes(body)).await.map_err(|_| malformed("its body came too slowly".to_owned()))??;
    serde_json::from_slice(&bytes).map_err(|error| malformed(position_of(&error)))
}

async fn bytes(body: Body) -> Result<Vec<u8>, Refusal> {
    let mut chunks = body.into_data_stream();
    let mut bytes = Vec::new();
    let broken = |_| Refusal::Malformed { why: "its body ended too early".to_owned() };
    while let Some(chunk) = chunks.try_next().await.map_err(broken)? {
        if bytes.len() + chunk.len() > LIMIT {
            return Err(Refusal::TooLarge { limit: LIMIT });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Where the JSON is wrong, without repeating any of it: it goes into the log, and may be anything.
fn position_of(error: &serde_json::Error) -> String {
    format!("its body is not the expected JSON at line {}, column {}", error.line(), error.column())
}
