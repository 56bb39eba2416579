//! A daemon of this machine, asked through its own socket: an answer of it needs no key, no quorum and no other process.
//!
//! The question is JSON with a zero byte behind it, the answer is its length (four bytes, the highest first) and JSON.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::de::DeserializeOwned;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::timeout,
};

use crate::{
    CephError,
    answers::{MonStatus, OsdStatus},
};

const RUN: &str = "/run/ceph";
const DEADLINE: Duration = Duration::from_secs(3);
/// More than any honest answer to what is asked here.
const LONGEST: u32 = 1 << 20;

/// What the monitor of this name says of itself; `None` while it does not answer.
pub async fn monitor(name: &str) -> Result<Option<MonStatus>, CephError> {
    ask(&format!("mon.{name}"), "mon_status").await
}

/// What the OSD of this number says of itself; `None` while it does not answer.
pub async fn osd(id: u32) -> Result<Option<OsdStatus>, CephError> {
    ask(&format!("osd.{id}"), "status").await
}

async fn ask<T: DeserializeOwned>(daemon: &str, what: &str) -> Result<Option<T>, CephError> {
    let socket = PathBuf::from(format!("{RUN}/ceph-{daemon}.asok"));
    // A daemon that starts, ends or has ended does not answer; its unit says which of them it is.
    let Ok(Ok(answer)) = timeout(DEADLINE, exchange(&socket, what)).await else { return Ok(None) };
    understood(daemon, what, &answer)
}

/// A daemon that has just begun does not know the question yet, and says so in plain words.
fn understood<T: DeserializeOwned>(daemon: &str, what: &str, answer: &[u8]) -> Result<Option<T>, CephError> {
    if !answer.trim_ascii_start().starts_with(b"{") {
        return Ok(None);
    }
    let garbled = |source| CephError::Garbled { asked: format!("daemon {daemon} {what}"), source };
    serde_json::from_slice(answer).map(Some).map_err(garbled)
}

async fn exchange(socket: &Path, what: &str) -> io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(socket).await?;
    let question = serde_json::json!({ "prefix": what, "format": "json" });
    stream.write_all(format!("{question}\0").as_bytes()).await?;
    let length = stream.read_u32().await?;
    if length > LONGEST {
        return Err(io::Error::other("the answer is too long"));
    }
    let mut answer = Vec::new();
    stream.take(length.into()).read_to_end(&mut answer).await?;
    if answer.len() as u64 == u64::from(length) { Ok(answer) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixListener;

    use super::*;

    async fn answered(bytes: &'static [u8]) -> (io::Result<Vec<u8>>, Vec<u8>) {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("asok");
        let listener = UnixListener::bind(&socket).unwrap();
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = Vec::new();
            while asked.last() != Some(&0) {
                asked.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(bytes).await.unwrap();
            asked
        };
        tokio::join!(exchange(&socket, "status"), serve)
    }

    #[tokio::test]
    async fn a_question_and_its_answer() {
        let (answer, asked) = answered(b"\0\0\0\x02{}").await;
        assert_eq!(answer.unwrap(), b"{}");
        assert_eq!(asked, b"{\"format\":\"json\",\"prefix\":\"status\"}\0");
    }

    #[test]
    fn plain_words_are_no_answer_yet_and_other_json_is_an_error() {
        let status = |answer: &str| understood::<OsdStatus>("osd.1", "status", answer.as_bytes());
        assert_eq!(
            status("\n{\"state\": \"active\"}\n").unwrap().map(|status| status.state).as_deref(),
            Some("active")
        );
        for plain in ["", "no valid command found", "ERROR: (22) Invalid argument\n"] {
            assert!(status(plain).unwrap().is_none(), "{plain}");
        }
        assert!(status("{}").is_err());
    }

    #[tokio::test]
    async fn an_answer_that_is_cut_short_or_too_long_is_none() {
        assert!(answered(b"\0\0\0\x09{}").await.0.is_err());
        assert!(answered(b"\xff\0\0\0").await.0.is_err());
        assert!(exchange(Path::new("/nowhere/asok"), "status").await.is_err());
    }
}
