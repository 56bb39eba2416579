//! The bootstrap API: what it is asked, and what its answers mean.
//!
//! ```text
//! GET bootstrap-url?workerID=…&clusterID=…&region=…     Authorization: Bearer TOKEN
//!   200 ─► the payload      405 ─► the same by POST, with a body {"workerID":…,"clusterID":…,"region":…}      429, 503, 511 ─► not made yet: asked again, for a minute      401, 403 ─► the token is wrong: never again
//! ```
//! The payload belongs to one worker and may be another one with each call, so the answer that was checked is the one that is
//! kept. A sum in the Secret or in the answer's headers is compared before a byte of it is used.

use std::{collections::BTreeMap, time::Duration};

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, prelude::BASE64_STANDARD};
use engine::StepError;
use explain::Code;
use jiff::Timestamp;
use reqwest::{
    StatusCode, Url,
    header::{DATE, HeaderMap, RETRY_AFTER},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use upgrades::names::key;

use crate::{
    Secret, codes,
    fetch::{Answer, FetchError, Method, fetch_by},
};

/// The largest payload.
const MOST: usize = 64 << 20;
/// What is asked for; what it is shows its content.
const ACCEPT: &str = "application/gzip, application/x-tar, text/x-shellscript, */*;q=0.5";
/// For how long a payload that is not made yet is waited for.
const READY_WITHIN: Duration = Duration::from_mins(1);
/// Before it is asked for the second time; it doubles from there.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// What tells the API whose payload is meant, and the keys that have it.
const WHOSE: [(&str, &str); 3] = [("workerID", key::WORKER), ("clusterID", key::CLUSTER), ("region", key::REGION)];
/// Up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A payload as it came.
pub(super) struct Fetched {
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// Their SHA-256 in hex.
    pub(super) sha256: String,
    /// What time the server has.
    pub(super) server_time: Option<Timestamp>,
}

/// Fetches the payload that the Secret names.
pub(super) async fn payload(secret: &Secret) -> Result<Fetched, StepError> {
    let url = url(secret)?;
    let authorization = format!("Bearer {}", required(secret, key::BOOTSTRAP_TOKEN)?);
    let ca = required(secret, key::CA)?;
    let body = body(secret)?;
    let answer = ask(|by_post| {
        let method = if by_post { Method::Post(body.clone()) } else { Method::Get };
        fetch_by(method, ca, url.as_str(), &authorization, ACCEPT, MOST)
    })
    .await?;
    let sha256 = sum(&answer.body);
    for (origin, announced) in announced(secret.get(key::SHA256), &answer.headers) {
        if announced != sha256 {
            let message = format!("the payload has the SHA-256 {sha256}, and {origin} says {announced}");
            return Err(StepError::new(codes::BOOTSTRAP_SUM, message));
        }
    }
    Ok(Fetched { sha256, server_time: server_time(&answer.headers), bytes: answer.body })
}

/// The value of a key that must be there.
pub(super) fn required<'a>(secret: &'a Secret, key: &str) -> Result<&'a str, StepError> {
    secret.get(key).ok_or_else(|| StepError::new(codes::MISSING_KEY, format!("the node's Secret has no `{key}`")))
}

/// The SHA-256 of these bytes, in hex.
pub(super) fn sum(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The address, with what tells the API whose payload is meant, unless it says so itself.
fn url(secret: &Secret) -> Result<Url, StepError> {
    let given = required(secret, key::BOOTSTRAP_URL)?;
    // The address may carry a token in its query: no message shows it.
    let bad =
        |why: String| StepError::new(codes::BOOTSTRAP_UNREACHABLE, format!("`bootstrap-url` is no address: {why}"));
    let mut url = Url::parse(given).map_err(|error| bad(error.to_string()))?;
    for (name, key) in WHOSE {
        let value = required(secret, key)?;
        if !url.query_pairs().any(|(there, _)| there.eq_ignore_ascii_case(name)) {
            url.query_pairs_mut().append_pair(name, value);
        }
    }
    Ok(url)
}

/// The same for a server that wants it in a body.
fn body(secret: &Secret) -> Result<String, StepError> {
    let of_key = |(name, key)| Ok((name, json!(required(secret, key)?)));
    let whose: BTreeMap<&str, Value> = WHOSE.into_iter().map(of_key).collect::<Result<_, StepError>>()?;
    Ok(json!(whose).to_string())
}

/// Asks until there is a payload, it is clear that there will be none, or it takes too long; by POST where GET is not allowed.
async fn ask<A>(mut attempt: impl FnMut(bool) -> A) -> Result<Answer, StepError>
where
    A: Future<Output = Result<Answer, FetchError>>,
{
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    let mut by_post = false;
    loop {
        let answer = attempt(by_post).await.map_err(|error| unanswered(&error))?;
        if answer.status == StatusCode::METHOD_NOT_ALLOWED && !by_post {
            by_post = true;
            continue;
        }
        let Some((error, is_not_yet)) = refused(answer.status, started.elapsed()) else { return Ok(answer) };
        let wait = retry_after(&answer.headers).unwrap_or(pause);
        if !is_not_yet || started.elapsed() + wait > READY_WITHIN {
            return Err(error);
        }
        sleep(wait).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// What is wrong with an answer of this status, and whether another one may come.
fn refused(status: StatusCode, waited: Duration) -> Option<(StepError, bool)> {
    let error = |code: Code, what: &str| StepError::new(code, format!("the bootstrap API answers {status}{what}"));
    match status.as_u16() {
        200 => None,
        401 | 403 => Some((error(codes::BOOTSTRAP_REFUSED, ": it refuses the token"), false)),
        429 | 503 | 511 => {
            let what = format!(": it has no payload for this worker yet, after {} s", waited.as_secs());
            Some((error(codes::BOOTSTRAP_NOT_READY, &what).retryable(), true))
        }
        _ => Some((error(codes::BOOTSTRAP_ANSWER, " instead of a payload"), false)),
    }
}

fn unanswered(error: &FetchError) -> StepError {
    let step = |code| StepError::new(code, format!("cannot fetch the payload from the bootstrap API: {error}"));
    match error {
        FetchError::Unusable(_) => step(codes::BOOTSTRAP_UNREACHABLE)
            .with_hint("correct `bootstrap-url`, `bootstrap-token` or `ca.crt` in the node's Secret"),
        FetchError::Unreachable(_) => step(codes::BOOTSTRAP_UNREACHABLE).retryable(),
        FetchError::Distrusted(_) => step(codes::BOOTSTRAP_DISTRUSTED),
        FetchError::TooLarge(_) => step(codes::BOOTSTRAP_ANSWER)
            .with_hint("make the payload smaller: what is large belongs into a package or an image"),
    }
}

/// How long the server asks to wait.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    Some(Duration::from_secs(headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?))
}

fn server_time(headers: &HeaderMap) -> Option<Timestamp> {
    let date = headers.get(DATE)?.to_str().ok()?;
    Some(jiff::fmt::rfc2822::parse(date).ok()?.timestamp())
}

/// Every SHA-256 that is announced for the payload, in hex, and by whom.
fn announced(secret: Option<&str>, headers: &HeaderMap) -> Vec<(&'static str, String)> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let mut all = Vec::new();
    let mut add = |origin, sum: Option<String>| all.extend(sum.map(|sum| (origin, sum)));
    add("`sha256` of the Secret", secret.map(|sum| sum.trim_start_matches("sha256:").to_ascii_lowercase()));
    add("the header X-Checksum-Sha256", value("x-checksum-sha256").map(|sum| sum.trim().to_ascii_lowercase()));
    for (origin, name) in [("the header Digest", "digest"), ("the header Content-Digest", "content-digest")] {
        add(origin, value(name).and_then(digest_of));
    }
    all
}

/// The SHA-256 among the digests of a header: `sha-256=BASE64`, or `sha-256=:BASE64:` in the newer ones.
fn digest_of(header: &str) -> Option<String> {
    let (_, encoded) = header
        .split(',')
        .filter_map(|part| part.trim().split_once('='))
        .find(|(algorithm, _)| algorithm.eq_ignore_ascii_case("sha-256"))?;
    let bytes = BASE64_STANDARD.decode(encoded.trim_matches(':')).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::{
        super::testing::{failed, with},
        *,
    };

    const OF_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const OF_ABC_64: &str = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";

    #[test]
    fn the_address_says_whose_payload_it_is() {
        let all = "workerID=w-1&clusterID=c-1&region=eu-de";
        for (given, expected) in [
            ("https://api.example/v1", format!("https://api.example/v1?{all}")),
            ("https://api.example:8443/v1?kind=rhel", format!("https://api.example:8443/v1?kind=rhel&{all}")),
            (
                "https://api.example/v1?workerid=other&region=us",
                "https://api.example/v1?workerid=other&region=us&clusterID=c-1".to_owned(),
            ),
        ] {
            assert_eq!(url(&with("a", &[("bootstrap-url", given)]).secret).unwrap().as_str(), expected);
        }
        let odd = with("a", &[("worker-id", "a b&c=d"), ("bootstrap-url", "https://h/")]);
        assert_eq!(url(&odd.secret).unwrap().query(), Some("workerID=a+b%26c%3Dd&clusterID=c-1&region=eu-de"));
        assert_eq!(body(&odd.secret).unwrap(), r#"{"clusterID":"c-1","region":"eu-de","workerID":"a b&c=d"}"#);
        for (key, expected) in [("region", "BS-IPB-013"), ("bootstrap-url", "BS-IPB-013")] {
            let error = url(&with("a", &[(key, "")]).secret).unwrap_err();
            assert!(failed(&error).starts_with(expected), "{error}");
        }
        let error = url(&with("a", &[("bootstrap-url", "no address?token=hunter3")]).secret).unwrap_err();
        assert_eq!(failed(&error), "BS-IPB-062 `bootstrap-url` is no address: relative URL without a base");
    }

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| ((*name).parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn sums_are_read_wherever_they_are() {
        assert_eq!(sum(b"abc"), OF_ABC);
        let upper = OF_ABC.to_uppercase();
        for (secret, list, expected) in [
            (None, vec![], 0),
            (Some(upper.as_str()), vec![], 1),
            (Some(&*format!("sha256:{OF_ABC}")), vec![("x-checksum-sha256", upper.as_str())], 2),
            (None, vec![("digest", &*format!("md5=abc, SHA-256={OF_ABC_64}"))], 1),
            (None, vec![("content-digest", &*format!("sha-256=:{OF_ABC_64}:"))], 1),
            (None, vec![("digest", "sha-512=abc"), ("etag", OF_ABC)], 0),
        ] {
            let found = announced(secret, &headers(&list));
            assert!(found.len() == expected && found.iter().all(|(_, sum)| sum == OF_ABC), "{found:?}");
        }
    }

    #[test]
    fn the_time_of_the_server() {
        let expected = "2026-11-19T02:00:00Z".parse::<Timestamp>().unwrap();
        assert_eq!(server_time(&headers(&[("date", "Thu, 19 Nov 2026 02:00:00 GMT")])), Some(expected));
        assert_eq!(server_time(&headers(&[("date", "yesterday")])), None);
    }

    fn answer(status: u16, after: Option<&str>) -> Answer {
        let headers = headers(&after.map(|seconds| ("retry-after", seconds)).into_iter().collect::<Vec<_>>());
        Answer { status: status.try_into().unwrap(), headers, body: Vec::new() }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_ready_is_asked_for_again_and_what_is_refused_is_not() {
        let unreachable = || Err(FetchError::Unreachable("connection refused".into()));
        let mut reported = String::new();
        for answers in [
            vec![Ok(answer(200, None))],
            vec![Ok(answer(511, None)), Ok(answer(503, None)), Ok(answer(200, None))],
            vec![Ok(answer(429, Some("30"))), Ok(answer(200, None))],
            vec![Ok(answer(429, Some("3000")))],
            (0..9).map(|_| Ok(answer(511, None))).collect(),
            vec![Ok(answer(401, None))],
            vec![Ok(answer(511, None)), Ok(answer(403, None))],
            vec![Ok(answer(404, None))],
            vec![Ok(answer(204, None))],
            vec![Ok(answer(405, None)), Ok(answer(511, None)), Ok(answer(200, None))],
            vec![Ok(answer(405, None)), Ok(answer(405, None))],
            vec![unreachable()],
            vec![Err(FetchError::Distrusted("certificate signed by unknown authority".into()))],
            vec![Err(FetchError::TooLarge(7))],
        ] {
            let (started, mut answers) = (Instant::now(), VecDeque::from(answers));
            let mut asked = 0;
            let mut posted = 0;
            let ended = ask(|by_post| {
                asked += 1;
                posted += u8::from(by_post);
                std::future::ready(answers.pop_front().unwrap())
            })
            .await;
            let ended = match ended {
                Ok(answer) => answer.status.to_string(),
                Err(error) if error.is_retryable() => format!("{}, tried again", failed(&error)),
                Err(error) => failed(&error),
            };
            let posted = if posted == 0 { String::new() } else { format!(", {posted} by POST,") };
            reported += &format!("asked {asked} times{posted} in {} s: {ended}\n", started.elapsed().as_secs());
        }
        insta::assert_snapshot!(reported);
    }
}
