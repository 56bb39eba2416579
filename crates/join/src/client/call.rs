//! One request to one master, and what its failure means.

use std::{net::SocketAddr, time::Duration};

use explain::Diagnostic;
use reqwest::{RequestBuilder, Response};
use serde::{Serialize, de::DeserializeOwned};
use tls::Distrust;

use super::{JoinError, Refused};
use crate::{codes, wire};

const DEADLINE: Duration = Duration::from_secs(20);
/// More than any honest answer: the reports of a thousand nodes.
const LONGEST: usize = 16 * 1024 * 1024;
/// The longest text of a refusal that is worth showing.
const LONGEST_TEXT: usize = 600;

pub(super) async fn get<T: DeserializeOwned>(
    http: &reqwest::Client,
    master: SocketAddr,
    path: &str,
    query: &impl Serialize,
) -> Result<T, JoinError> {
    send(http.get(url(master, path)).query(query), master).await
}

pub(super) async fn post<T: DeserializeOwned>(
    http: &reqwest::Client,
    master: SocketAddr,
    path: &str,
    body: &impl Serialize,
) -> Result<T, JoinError> {
    send(http.post(url(master, path)).json(body), master).await
}

fn url(master: SocketAddr, path: &str) -> String {
    format!("https://{master}{path}")
}

async fn send<T: DeserializeOwned>(request: RequestBuilder, master: SocketAddr) -> Result<T, JoinError> {
    let failed = |error: reqwest::Error| failure(master, &error);
    let response = request.timeout(DEADLINE).send().await.map_err(failed)?;
    let status = response.status();
    let bytes = read(response, master).await?;
    let strange = |why: String| JoinError::Answer { master, why };
    if status.is_success() {
        return serde_json::from_slice(&bytes).map_err(|_| strange("it is not the expected JSON".to_owned()));
    }
    match serde_json::from_slice::<wire::Refused>(&bytes) {
        Ok(refused) => Err(JoinError::Refused(Box::new(understood(master, refused)))),
        Err(_) => Err(strange(format!("it has the HTTP status {}", status.as_u16()))),
    }
}

async fn read(mut response: Response, master: SocketAddr) -> Result<Vec<u8>, JoinError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(master, &error))? {
        if bytes.len() + chunk.len() > LONGEST {
            return Err(JoinError::Answer { master, why: "it is too long".to_owned() });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The code as one of ours, so that it is explained here as it is there.
fn understood(master: SocketAddr, refused: wire::Refused) -> Refused {
    let wire::Refused { diagnostic: Diagnostic { code, message, hint }, retryable } = refused;
    let code = codes::ALL.iter().find(|known| known.id == code).copied().unwrap_or(codes::ANSWER);
    Refused { master, diagnostic: Diagnostic { code, message: shown(&message), hint: shown(&hint) }, retryable }
}

/// Text of another machine, fit for a terminal.
fn shown(text: &str) -> String {
    explain::plain(text).chars().take(LONGEST_TEXT).collect()
}

fn failure(master: SocketAddr, error: &reqwest::Error) -> JoinError {
    match tls::distrust(error) {
        Some(Distrust::Ca) => JoinError::WrongCa { master },
        Some(Distrust::Time) => JoinError::Clock { master },
        Some(Distrust::Name | Distrust::Other) => JoinError::Untrusted { master },
        None => JoinError::unreached(master, reason(error)),
    }
}

/// The last cause says it best: the ones above repeat the URL.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut last: &dyn std::error::Error = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_machine_says_cannot_drive_the_terminal() {
        assert_eq!(shown("\u{1b}[31mred\r\nnext"), " [31mred  next");
        assert_eq!(shown(&"x".repeat(10_000)).len(), LONGEST_TEXT);
    }

    #[test]
    fn a_code_of_another_version_is_still_a_refusal() {
        let refused = wire::Refused {
            diagnostic: Diagnostic { code: "BS-JOIN-999".into(), message: "no".into(), hint: "perhaps".into() },
            retryable: false,
        };
        let understood = understood("192.0.2.1:7444".parse().unwrap(), refused);
        assert_eq!((understood.diagnostic.code, understood.diagnostic.message.as_str()), (codes::ANSWER, "no"));
    }
}
