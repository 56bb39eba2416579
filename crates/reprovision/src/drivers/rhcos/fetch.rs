//! The payload is fetched once per run, from the ignition server that the Secret names.
//!
//! A server that has not built it yet answers 511, and is asked again for a minute. What is fetched is kept as it came: whether it
//! is any good is the business of the checks.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use engine::StepError;
use host::Host;
use tokio::time::{Instant, sleep};
use upgrades::names::key;

use super::stored::{self, Note};
use crate::{
    Run,
    codes::{BAD_ANSWER, IGNITION_UNREACHABLE, MISSING_KEY, NOT_BUILT, WRONG_CA, WRONG_TOKEN},
    fetch::{Answer, FetchError, fetch as get},
};

const ACCEPT: &str = "application/vnd.coreos.ignition+json;version=3.2.0";
const MOST: usize = 32 << 20;
/// For how long a payload that is not built yet is waited for.
const WITHIN: Duration = Duration::from_mins(1);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Fetches it, unless that was done for this run.
pub(super) async fn fetch(run: &Run, host: &Host) -> Result<(), StepError> {
    let disk = &*host.disk;
    if stored::read_note(disk, &run.order.run)?.is_some() {
        return Ok(());
    }
    let of = |key: &str| {
        run.secret.get(key).ok_or_else(|| StepError::new(MISSING_KEY, format!("the Secret has no key `{key}`")))
    };
    let (url, token, ca) = (address(of(key::IGNITION_URL)?), of(key::IGNITION_TOKEN)?, of(key::CA)?);
    let authorization = format!("Bearer {}", STANDARD.encode(token));
    let answer = until_built(|| {
        host.doing("asking the ignition server for the payload");
        get(ca, &url, &authorization, ACCEPT, MOST)
    })
    .await?;
    let date = answer.headers.get("date").and_then(|date| date.to_str().ok()).map(str::to_owned);
    let note = Note { run: run.order.run.clone(), sha256: stored::sha256(&answer.body), date, at: host.clock.now() };
    stored::keep(disk, &answer.body, &note)
}

/// The address with the path that such a server has, where it has none.
fn address(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let rest = rest.trim_end_matches('/');
    if rest.contains('/') { format!("{scheme}://{rest}") } else { format!("{scheme}://{rest}/ignition") }
}

/// Asks until there is something else to say than that it is not built yet.
async fn until_built<F: Future<Output = Result<Answer, FetchError>>>(
    mut ask: impl FnMut() -> F,
) -> Result<Answer, StepError> {
    let end = Instant::now() + WITHIN;
    let mut pause = FIRST_PAUSE;
    loop {
        let answer = ask().await.map_err(|error| unanswered(&error))?;
        match answer.status.as_u16() {
            200 => return Ok(answer),
            511 if Instant::now() + pause < end => sleep(pause).await,
            status => return Err(refused(status)),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn unanswered(error: &FetchError) -> StepError {
    match error {
        FetchError::Unusable(why) => StepError::new(WRONG_CA, format!("the ignition server cannot be asked: {why}"))
            .with_hint("check `ignition-url`, `ignition-token` and `ca.crt` in the node's Secret"),
        FetchError::Distrusted(why) => {
            StepError::new(WRONG_CA, format!("the ignition server is not believed by `ca.crt`: {why}"))
        }
        FetchError::Unreachable(why) => {
            StepError::new(IGNITION_UNREACHABLE, format!("the ignition server does not answer: {why}")).retryable()
        }
        FetchError::TooLarge(most) => {
            StepError::new(BAD_ANSWER, format!("the ignition server sends more than {} MiB", most >> 20))
        }
    }
}

fn refused(status: u16) -> StepError {
    match status {
        511 => {
            let message = format!(
                "the ignition server has not built the payload within {} s, or does not know the token",
                WITHIN.as_secs()
            );
            StepError::new(NOT_BUILT, message).retryable()
        }
        401 | 403 => StepError::new(WRONG_TOKEN, format!("the ignition server answers {status}: it refuses the token")),
        500.. => StepError::new(BAD_ANSWER, format!("the ignition server answers {status}")).retryable(),
        _ => StepError::new(BAD_ANSWER, format!("the ignition server answers {status}")),
    }
}

#[cfg(test)]
mod tests {
    use std::{future::ready, sync::Arc};

    use explain::Explain;
    use http::{HeaderMap, StatusCode};

    use super::{
        super::{server::Server, testing::Machine},
        *,
    };
    use crate::Secret;

    #[test]
    fn a_path_is_added_where_there_is_none() {
        for (url, asked) in [
            ("https://ignition.lab", "https://ignition.lab/ignition"),
            ("https://ignition.lab:30443/", "https://ignition.lab:30443/ignition"),
            ("https://ignition.lab/ignition", "https://ignition.lab/ignition"),
            ("https://mcs.lab:22623/config/worker", "https://mcs.lab:22623/config/worker"),
            ("10.0.0.1:22623", "https://10.0.0.1:22623/ignition"),
        ] {
            assert_eq!(address(url), asked);
        }
    }

    async fn ended(statuses: &[u16]) -> (String, usize, u64) {
        let (mut asked, began) = (0, Instant::now());
        let end = until_built(|| {
            let status = statuses.get(asked).or(statuses.last()).copied().unwrap_or(200);
            asked += 1;
            let status = StatusCode::from_u16(status).unwrap();
            ready(Ok(Answer { status, headers: HeaderMap::new(), body: Vec::new() }))
        })
        .await;
        let end =
            end.map_or_else(|error| format!("{} {}", error.code(), error.is_retryable()), |_| "fetched".to_owned());
        (end, asked, began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_built_yet_is_asked_for_again_within_a_minute() {
        assert_eq!(ended(&[200]).await, ("fetched".into(), 1, 0));
        assert_eq!(ended(&[511, 511, 200]).await, ("fetched".into(), 3, 3));
        let (end, asked, seconds) = ended(&[511]).await;
        assert_eq!((end.as_str(), asked), ("BS-IPB-030 true", 9));
        assert!(seconds <= 60, "{seconds}");
        assert_eq!(ended(&[511, 401]).await, ("BS-IPB-031 false".into(), 2, 1));
        assert_eq!(ended(&[404]).await.0, "BS-IPB-034 false");
        assert_eq!(ended(&[503]).await.0, "BS-IPB-034 true");
    }

    #[tokio::test]
    async fn a_payload_is_fetched_once_and_kept() {
        let (server, other, machine) = (Server::start().await, Server::start().await, Machine::default());
        let run = |ca: &str, token: &str| {
            let mut run = machine.run();
            let url = format!("https://{}", server.address);
            let data = [(key::IGNITION_URL, url.as_str()), (key::IGNITION_TOKEN, token), (key::CA, ca)];
            run.secret = Arc::new(Secret::new(data.map(|(key, value)| (key.to_owned(), value.to_owned())).into()));
            run
        };
        let host = machine.host();
        for (run, code) in [
            (run(&other.ca, "hunter2"), WRONG_CA),
            (run(&server.ca, "wrong"), WRONG_TOKEN),
            (run(&server.ca, ""), MISSING_KEY),
            (run("no CA", "hunter2"), WRONG_CA),
        ] {
            let error = fetch(&run, &host).await.unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
        for _ in 0..2 {
            fetch(&run(&server.ca, "hunter2"), &host).await.unwrap();
        }
        assert_eq!(server.served(), 1);
        let note = stored::read_note(&*host.disk, "uid-1-1").unwrap().unwrap();
        assert!(note.date.is_some());
    }

    #[test]
    fn who_is_not_believed_is_not_asked_again() {
        for (error, code, retry) in [
            (FetchError::Distrusted("x".into()), WRONG_CA, false),
            (FetchError::Unusable("x".into()), WRONG_CA, false),
            (FetchError::TooLarge(MOST), BAD_ANSWER, false),
            (FetchError::Unreachable("x".into()), IGNITION_UNREACHABLE, true),
        ] {
            let error = unanswered(&error);
            assert_eq!((error.code(), error.is_retryable()), (code, retry));
        }
    }
}
