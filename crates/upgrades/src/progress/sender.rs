//! One event on its way to the API, and what comes back.
//!
//! The token leaves only as the header of a request over TLS, to the very address in the Secret: no redirect is followed, no
//! proxy asked. What the API says is shown in a line, unless it repeats the token. Nothing is remembered here.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::{
    Client, Response,
    header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER},
    redirect::Policy,
};
use secrecy::ExposeSecret;
use tls::TlsError;

use super::{Answer, CloudEvent, Destination, Event, Outcome, signature::PREFIX};
use crate::NodeUpgrade;

/// For all of it: the next event waits behind this one.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Of an answer's body.
const MOST: usize = 4 * 1024;
/// Characters of it that are shown.
const SHOWN: usize = 200;

impl Destination {
    /// A client for it: it trusts the CA of the Secret and no other, or those of the system where there is none in it. It can
    /// be kept as long as the Secret does not change.
    pub fn client(&self) -> Result<Client, TlsError> {
        if let Some(ca) = &self.ca {
            return tls::client(ca, None);
        }
        tls::install_provider();
        Ok(Client::builder().https_only(true).no_proxy().redirect(Policy::none()).build()?)
    }

    /// An event as this API wants it.
    pub fn event(&self, object: &NodeUpgrade, event: &Event) -> CloudEvent {
        CloudEvent::new(object, event, &self.whose)
    }

    /// Sends it once.
    pub async fn send(&self, client: &Client, event: &CloudEvent) -> Answer {
        let outcome = match serde_json::to_vec(event) {
            Ok(body) => self.post(client, &event.id, body).await,
            Err(error) => Outcome::Unanswered(error.to_string()),
        };
        Answer { seq: event.seq, outcome }
    }

    async fn post(&self, client: &Client, id: &str, body: Vec<u8>) -> Outcome {
        let mut request = client
            .post(self.url.clone())
            .timeout(TIMEOUT)
            .header(AUTHORIZATION, self.bearer.clone())
            .header(CONTENT_TYPE, "application/cloudevents+json");
        for (name, value) in self.key.headers(id, Timestamp::now(), &body) {
            request = request.header(name, value);
        }
        let response = match request.body(body).send().await {
            Ok(response) => response,
            // Its query may hold what others must not know.
            Err(error) => return self.unanswered(&error.without_url()),
        };
        let (status, headers) = (response.status(), response.headers());
        let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let text = if status.is_success() { String::new() } else { self.shown(&beginning(response).await) };
        Outcome::Answered { status, retry_after, text }
    }

    fn unanswered(&self, error: &reqwest::Error) -> Outcome {
        let host = self.url.host_str().unwrap_or_default();
        Outcome::Unanswered(format!("{host}: {}", explain::chain(error)))
    }

    /// What it says, in a line. A server may repeat what it was sent.
    fn shown(&self, text: &str) -> String {
        let token = self.token.expose_secret();
        if text.contains(token.strip_prefix(PREFIX).unwrap_or(token)) {
            return "(its text repeats the token, and is not shown)".to_owned();
        }
        // Cut first: at the end of what was read there may be half a token.
        explain::plain(text).chars().take(SHOWN).collect::<String>().trim().to_owned()
    }
}

/// The beginning of a body. The status is what counts: where the body breaks off, what came of it will do.
async fn beginning(mut response: Response) -> String {
    let mut read = Vec::new();
    while read.len() < MOST
        && let Ok(Some(chunk)) = response.chunk().await
    {
        let room = MOST - read.len();
        read.extend(chunk.iter().take(room));
    }
    String::from_utf8_lossy(&read).into_owned()
}

#[cfg(test)]
mod tests;
