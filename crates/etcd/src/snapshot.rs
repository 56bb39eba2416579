//! A consistent copy of everything in etcd, as `etcdutl snapshot restore` takes it.

use std::io::Write;

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::Deserialize;

use crate::{Etcd, EtcdError};

/// One line of the answer.
#[derive(Deserialize)]
struct Line {
    result: Option<Piece>,
    error: Option<Trouble>,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    blob: String,
}

#[derive(Deserialize)]
struct Trouble {
    #[serde(default)]
    message: String,
}

impl Etcd {
    /// Writes a snapshot and returns its size. etcd ends it with a checksum of its own, which a restore verifies.
    pub async fn snapshot(&self, to: &mut impl Write) -> Result<u64, EtcdError> {
        let url = format!("{}/v3/maintenance/snapshot", self.url);
        let unreachable = |source| EtcdError::Unreachable { url: url.clone(), source };
        // No time limit: a large database takes its time, and a connection that breaks is noticed.
        let mut answer = self.http.post(&url).body("{}").send().await.map_err(unreachable)?;
        let (mut waiting, mut size) = (Vec::new(), 0);
        while let Some(bytes) = answer.chunk().await.map_err(unreachable)? {
            waiting.extend_from_slice(&bytes);
            while let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = waiting.drain(..=end).collect();
                size += piece(&url, &line, to)?;
            }
        }
        if !waiting.is_empty() {
            size += piece(&url, &waiting, to)?;
        }
        Ok(size)
    }
}

/// What one line of the answer holds.
fn piece(url: &str, line: &[u8], to: &mut impl Write) -> Result<u64, EtcdError> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(0);
    }
    let garbled = |source| EtcdError::Garbled { url: url.to_owned(), source };
    let line: Line = serde_json::from_slice(line).map_err(garbled)?;
    if let Some(Trouble { message }) = line.error {
        return Err(EtcdError::Refused { url: url.to_owned(), status: 500, message });
    }
    let blob = line.result.map(|piece| piece.blob).unwrap_or_default();
    let custom = |error: &dyn std::fmt::Display| garbled(serde::de::Error::custom(error.to_string()));
    let bytes = BASE64.decode(blob).map_err(|error| custom(&error))?;
    to.write_all(&bytes).map_err(EtcdError::Write)?;
    Ok(bytes.len() as u64)
}
