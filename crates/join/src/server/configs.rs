//! Configs of machines by name, for machines whose own Ignition config only says where the other one is.
//!
//! ```text
//! GET /config/NAME   throttle ─► rate limit ─► proof in `Authorization` (crate::pointer) ─► of this name ─► not replaced ─► config
//! ```
//! A config holds its node's secret, and for the machine that the cluster grows from the cluster's keys. Without a proof every
//! name gets the same answer, whether there is such a node or not. The proof is an HMAC under the join key, compared in constant time.
//! Connections, headers, failures and speed are bounded as for the join service; a config is in memory once for all readers.

use std::{io, sync::Arc};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{ConnectInfo, Path, State},
    http::{
        HeaderMap, HeaderValue, Response, StatusCode,
        header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::IntoResponse,
    routing::get,
};
use explain::Explain;
use host::Clock;
use tls::{Listener, Peer};
use tokio::time::{Instant, interval};
use tokio_util::sync::CancellationToken;

use super::{
    limits::serve_router,
    rate_limit::{self, RateLimit},
    source::Source,
    tally::{self, Tally},
    throttle::Throttle,
};
use crate::{JoinKey, NodeSecret, Refusal, pointer};

const WHAT: &str = "config";
const IGNITION: HeaderValue = HeaderValue::from_static("application/vnd.coreos.ignition+json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const BEARER: HeaderValue = HeaderValue::from_static("Bearer");
/// Seconds until a config may be there. Ignition asks again by itself, at most every five.
const SOON: u64 = 5;

/// Has the configs.
pub trait Configs: Send + Sync {
    /// The keys that nodes' secrets are made with.
    fn join_keys(&self) -> Vec<JoinKey>;

    /// The config of the node that has proved this secret, as it is now; refuses a secret that was replaced.
    fn config(&self, secret: &NodeSecret) -> Result<Bytes, Refusal>;
}

struct Service {
    configs: Arc<dyn Configs>,
    clock: Arc<dyn Clock>,
    throttle: Throttle,
    rate_limit: RateLimit,
    tally: Tally,
}

/// Serves configs until stopped.
pub async fn serve_configs(
    listener: Listener,
    configs: Arc<dyn Configs>,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
) -> io::Result<()> {
    let service = Arc::new(Service {
        configs,
        clock,
        throttle: Throttle::default(),
        rate_limit: RateLimit::default(),
        tally: Tally::new(Instant::now()),
    });
    let routes = Router::new().route("/config/{name}", get(config)).with_state(Arc::clone(&service));
    tokio::select! {
        never = serve_router(listener, routes) => match never {},
        () = report_refusals(&service) => Ok(()),
        () = stop.cancelled() => Ok(()),
    }
}

/// Says now and then what was refused, also when requests have ended.
async fn report_refusals(service: &Service) {
    let mut check = interval(tally::MINUTE / 6);
    loop {
        check.tick().await;
        if let Some(summary) = service.tally.due(Instant::now()) {
            tracing::warn!("{summary}");
        }
    }
}

async fn config(
    State(service): State<Arc<Service>>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response<Body> {
    let source = Source::of(&peer);
    match service.granted(&source, &name, &headers) {
        Ok((secret, bytes)) => {
            tracing::info!(peer = %peer.address, node = secret.node, "a node was given its config");
            ([(CONTENT_TYPE, IGNITION), (CACHE_CONTROL, NO_STORE)], bytes).into_response()
        }
        Err(refusal) => service.refused(&source, &peer, &refusal),
    }
}

impl Service {
    fn granted(&self, source: &Source, name: &str, headers: &HeaderMap) -> Result<(NodeSecret, Bytes), Refusal> {
        self.throttle.check(source, Instant::now())?;
        self.rate_limit.spend(source, rate_limit::ANY, Instant::now())?;
        let secret = self.proved(headers).ok_or(Refusal::WrongProof)?;
        if secret.node != name {
            // What it asked for may be anything.
            return Err(Refusal::NotAllowed {
                why: format!("the proof is of `{}`, and another node was asked for", secret.node),
            });
        }
        let bytes = self.configs.config(&secret)?;
        Ok((secret, bytes))
    }

    /// The secret behind the one header that says so.
    fn proved(&self, headers: &HeaderMap) -> Option<NodeSecret> {
        let mut shown = headers.get_all(AUTHORIZATION).iter();
        let header = shown.next()?.to_str().ok().filter(|_| shown.next().is_none())?;
        let now = self.clock.now();
        self.configs.join_keys().iter().find_map(|key| pointer::authorized(key, header, now))
    }

    /// The answer, and a line in the log that repeats nothing of the request.
    fn refused(&self, source: &Source, peer: &Peer, refusal: &Refusal) -> Response<Body> {
        if refusal.is_suspicious() {
            self.throttle.failed(source, Instant::now());
        }
        let noted = self.tally.note(refusal.code().id, WHAT, peer.ip(), Instant::now());
        noted.summary.inspect(|summary| tracing::warn!("{summary}"));
        if noted.is_new {
            tracing::warn!(code = refusal.code().id, peer = %peer.address, "refused: {WHAT}: {refusal}");
        }
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        // Ignition gives up at any 4xx, also where others at its address are to blame.
        let status = if status == StatusCode::TOO_MANY_REQUESTS { StatusCode::SERVICE_UNAVAILABLE } else { status };
        let mut response = (status, Json(refusal.wire())).into_response();
        let more = response.headers_mut();
        match refusal {
            Refusal::WrongProof => drop(more.insert(WWW_AUTHENTICATE, BEARER)),
            Refusal::TooMany { wait, .. } | Refusal::TooFast { wait, .. } => {
                more.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
            }
            refusal if refusal.is_retryable() => drop(more.insert(RETRY_AFTER, HeaderValue::from(SOON))),
            _ => {}
        }
        response
    }
}
