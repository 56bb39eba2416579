//! One request and its answer: who asks, what is logged, what is sent.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use explain::Explain;
use serde::Serialize;
use tls::Peer;
use tokio::time::Instant;

use super::{Service, budget::Share, rate_limit, source::Source};
use crate::Refusal;

/// One request that may be refused.
pub(super) struct Exchange<'a> {
    service: &'a Service,
    peer: &'a Peer,
    source: Source,
    what: &'static str,
    claimed: Option<String>,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(service: &'a Service, peer: &'a Peer, what: &'static str) -> Self {
        Self { service, peer, source: Source::of(peer), what, claimed: None }
    }

    /// Refuses those who have failed too often or come too fast, before anything is read.
    pub(super) fn begin(&self) -> Result<(), Refusal> {
        self.service.throttle.check(&self.source, Instant::now())?;
        self.service.rate_limit.spend(&self.source, rate_limit::ANY, Instant::now())
    }

    /// Refuses those who want too often what takes this master some work.
    pub(super) fn charge(&self) -> Result<(), Refusal> {
        self.service.rate_limit.spend(&self.source, rate_limit::DEAR, Instant::now())
    }

    /// The room for what it sends.
    pub(super) fn share(&self) -> Share {
        self.service.budget.share(&self.source)
    }

    /// Remembers who the other side says it is, for the log.
    pub(super) fn claimed_by(&mut self, node: &str) {
        self.claimed = Some(node.to_owned());
    }

    /// Logs and counts what was refused, and turns the outcome into an answer.
    pub(super) fn end<T: Serialize>(self, outcome: Result<T, Refusal>) -> Response {
        let Self { service, peer, source, what, claimed } = self;
        let claimed = claimed.as_deref().unwrap_or("none");
        let refusal = match outcome {
            Ok(answer) => {
                tracing::debug!(peer = %peer.address, claimed, "granted: {what}");
                return Json(answer).into_response();
            }
            Err(refusal) => refusal,
        };
        if refusal.is_suspicious() {
            service.throttle.failed(&source, Instant::now());
        }
        let statement = service.tally.note(refusal.code().id, what, peer.ip(), Instant::now());
        statement.summary.inspect(|summary| tracing::warn!("{summary}"));
        if statement.is_new {
            tracing::warn!(code = refusal.code().id, peer = %peer.address, claimed, "refused: {what}: {refusal}");
        }
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Json(refusal.wire())).into_response();
        if let Refusal::TooMany { wait, .. } | Refusal::TooFast { wait, .. } = refusal {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        response
    }
}
