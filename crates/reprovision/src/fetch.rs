//! A file from a server outside the cluster: with a token, by the CA that the Secret names, and never more than so much.

use std::time::Duration;

use explain::chain;
use reqwest::{
    StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
};

/// For the whole of one answer: a payload is some megabytes.
const WITHIN: Duration = Duration::from_mins(2);

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// What it sent.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The CA, the address or the token cannot be used.
    #[error("{0}")]
    Unusable(String),
    /// It was reached, and is not who it should be: another CA.
    #[error("{0}")]
    Distrusted(String),
    /// It was not reached, or did not answer to the end.
    #[error("{0}")]
    Unreachable(String),
    /// It sends more than it may.
    #[error("it sends more than {0} bytes")]
    TooLarge(usize),
}

/// How a server is asked.
#[derive(Debug, Clone)]
pub enum Method {
    /// For what is there.
    Get,
    /// For what is made for the one that asks, with this JSON.
    Post(String),
}

/// Fetches `url` with this value of the header `Authorization`, which is never shown.
pub async fn fetch(ca: &str, url: &str, authorization: &str, accept: &str, most: usize) -> Result<Answer, FetchError> {
    fetch_by(Method::Get, ca, url, authorization, accept, most).await
}

/// The same by this method.
pub async fn fetch_by(
    method: Method,
    ca: &str,
    url: &str,
    authorization: &str,
    accept: &str,
    most: usize,
) -> Result<Answer, FetchError> {
    if !url.starts_with("https://") {
        return Err(FetchError::Unusable("the address must begin with https://".to_owned()));
    }
    let client = tls::client(ca, None).map_err(|error| FetchError::Unusable(chain(&error)))?;
    let mut token = HeaderValue::from_str(authorization)
        .map_err(|_| FetchError::Unusable("the token has characters that no header can have".to_owned()))?;
    token.set_sensitive(true);
    let asked = match method {
        Method::Get => client.get(url),
        Method::Post(json) => client.post(url).header(CONTENT_TYPE, "application/json").body(json),
    };
    let asked = asked.header(AUTHORIZATION, token).header("Accept", accept).timeout(WITHIN);
    read(asked, most).await
}

async fn read(asked: reqwest::RequestBuilder, most: usize) -> Result<Answer, FetchError> {
    let mut answer = asked.send().await.map_err(|error| unanswered(&error))?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(|error| unanswered(&error))? {
        if body.len() + part.len() > most {
            return Err(FetchError::TooLarge(most));
        }
        body.extend_from_slice(&part);
    }
    Ok(Answer { status, headers, body })
}

fn unanswered(error: &reqwest::Error) -> FetchError {
    // The address may carry a token in its query: it is not shown.
    let why = chain(error).replace(error.url().map_or("", |url| url.as_str()), "the address");
    match tls::distrust(error) {
        Some(_) => FetchError::Distrusted(why),
        None => FetchError::Unreachable(why),
    }
}
