//! A consistent copy of everything in etcd, as `etcdutl snapshot restore` takes it.
//!
//! It comes in pieces, and nothing here holds more than one of them. Every piece says how much is still to come, so the
//! size is known from the first one on. Whether the whole is whole is for [`Checksum`](crate::Checksum) to say.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::Deserialize;

use crate::{Etcd, EtcdError, checksum::SUM_BYTES, number};

/// One line of the answer.
#[derive(Deserialize)]
struct Line {
    result: Option<Piece>,
    error: Option<Failure>,
}

#[derive(Deserialize, Default)]
struct Piece {
    #[serde(default)]
    blob: String,
    #[serde(default, deserialize_with = "number")]
    remaining_bytes: u64,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(default)]
    message: String,
}

/// A piece of the database, and how much of it comes behind.
#[derive(Debug, PartialEq, Eq)]
struct Decoded {
    bytes: Vec<u8>,
    remaining: u64,
}

/// A snapshot on its way.
pub struct Snapshot {
    answer: reqwest::Response,
    url: String,
    /// What has arrived of the next line.
    waiting: Vec<u8>,
    first: Option<Vec<u8>>,
    size: u64,
    received: u64,
}

impl Etcd {
    /// Asks for a snapshot; it has begun to arrive when this returns.
    pub async fn snapshot(&self) -> Result<Snapshot, EtcdError> {
        let url = format!("{}/v3/maintenance/snapshot", self.url);
        // No time limit: a large database takes its time, and a connection that breaks is noticed.
        let answer = self.http.post(&url).body("{}").send().await;
        let answer = answer.map_err(|source| EtcdError::Unreachable { url: url.clone(), source })?;
        let mut snapshot = Snapshot { answer, url, waiting: Vec::new(), first: None, size: 0, received: 0 };
        if let Some(Decoded { bytes, remaining }) = snapshot.next().await? {
            snapshot.size = bytes.len() as u64 + remaining + SUM_BYTES as u64;
            snapshot.first = Some(bytes);
        }
        Ok(snapshot)
    }
}

impl Snapshot {
    /// How large it will be, with the sum at its end.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The next bytes; `None` when all have come.
    pub async fn piece(&mut self) -> Result<Option<Vec<u8>>, EtcdError> {
        let piece = match self.first.take() {
            Some(bytes) => Some(bytes),
            None => self.next().await?.map(|decoded| decoded.bytes),
        };
        match piece {
            Some(bytes) => {
                self.received += bytes.len() as u64;
                Ok(Some(bytes))
            }
            None if self.received == self.size => Ok(None),
            None => {
                let Self { url, size, received, .. } = self;
                Err(EtcdError::CutShort { url: url.clone(), received: *received, size: *size })
            }
        }
    }

    async fn next(&mut self) -> Result<Option<Decoded>, EtcdError> {
        loop {
            if let Some(end) = self.waiting.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.waiting.drain(..=end).collect();
                if let Some(decoded) = decode(&self.url, &line)? {
                    return Ok(Some(decoded));
                }
                continue;
            }
            let arrived = self.answer.chunk().await;
            match arrived.map_err(|source| EtcdError::Unreachable { url: self.url.clone(), source })? {
                Some(bytes) => self.waiting.extend_from_slice(&bytes),
                None => return decode(&self.url, &std::mem::take(&mut self.waiting)),
            }
        }
    }
}

/// What one line of the answer holds; nothing if it is empty.
fn decode(url: &str, line: &[u8]) -> Result<Option<Decoded>, EtcdError> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let garbled = |source| EtcdError::Garbled { url: url.to_owned(), source };
    let line: Line = serde_json::from_slice(line).map_err(garbled)?;
    if let Some(Failure { message }) = line.error {
        return Err(EtcdError::Refused { url: url.to_owned(), status: 500, message });
    }
    let Piece { blob, remaining_bytes } = line.result.unwrap_or_default();
    let bytes = BASE64.decode(blob).map_err(|error| garbled(serde::de::Error::custom(error)))?;
    Ok(Some(Decoded { bytes, remaining: remaining_bytes }))
}

#[cfg(test)]
mod tests {
    use explain::Explain;

    use super::*;
    use crate::codes;

    #[test]
    fn lines_of_a_real_etcd_are_understood() {
        let read = |line: &str| decode("https://m:2379", line.as_bytes());
        let piece = |bytes: &[u8], remaining| Some(Decoded { bytes: bytes.to_vec(), remaining });
        for (line, expected) in [
            (r#"{"result":{"remaining_bytes":"40960","blob":"AAEC","version":"3.7.0"}}"#, piece(&[0, 1, 2], 40960)),
            (r#"{"result":{"blob":"/w==","version":"3.7.0"}}"#, piece(&[255], 0)),
            ("\n", None),
        ] {
            assert_eq!(read(line).unwrap(), expected, "{line}");
        }
        for (line, code) in [
            (r#"{"error":{"code":14,"message":"etcdserver: server stopped"}}"#, codes::REFUSED),
            (r#"{"result":{"blob":"not base64"}}"#, codes::GARBLED),
            ("<html>", codes::GARBLED),
        ] {
            assert_eq!(read(line).unwrap_err().code(), code, "{line}");
        }
    }
}
