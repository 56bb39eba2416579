//! One connection after the other, each with limits: the other end can be any client.
//!
//! The worst case, with every place taken by a client that does the worst (see `tls` for how many there are):
//!
//! ```text
//!                                                               a stranger      with a certificate
//! TLS: a record in, a record out, state                            56 KiB        56 KiB
//! HTTP/2: a frame that is being read                               16 KiB        16 KiB
//!         bodies that are not read yet (the connection's window)   64 KiB        64 KiB
//!         headers: streams x 8 KiB, one list being read            40 KiB        72 KiB
//!         an answer that is not taken                              16 KiB        16 KiB
//! (HTTP/1 has one buffer of 16 KiB instead of these four)
//! handler, task, bookkeeping                                       16 KiB        32 KiB
//!                                                                 208 KiB       256 KiB
//! 256 strangers                                                    53 MB
//! one certified address (16 connections)                                           4 MB
//! 128 handshakes                                                   11 MB
//! bodies that are being read or answered (`budget`)                 4 MB
//! memory of failures, paces, refusals                              < 1 MB
//! ```
//! So all strangers of the world cost at most 68 MB, and each hostile node 4 MB more. All 1,024 certified places, which
//! takes 64 hostile nodes, would be 268 MB. The last report of each node is at most 64 KiB of text (`reports`).

use std::{convert::Infallible, time::Duration};

use axum::{
    Json, Router,
    body::Body,
    extract::ConnectInfo,
    http::{Request, Response, StatusCode},
    response::IntoResponse,
};
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tls::{Connection, Listener, Peer};
use tokio::{task::JoinSet, time::timeout};

use crate::Refusal;

/// Until a request is answered. Clients wait just as long.
const DEADLINE: Duration = Duration::from_secs(20);
/// Headers of an honest client have a few hundred bytes.
const HEADERS: u32 = 8 * 1024;
const BUFFER: usize = 16 * 1024;
const STREAM_WINDOW: u32 = 16 * 1024;
/// The least that the protocol knows.
const CONNECTION_WINDOW: u32 = 65_535;
/// Streams that were reset before anybody looked at them.
const RESETS: usize = 8;

/// What a client may do on one connection.
struct Limits {
    /// Requests at once.
    streams: u32,
    /// HTTP/1: until the headers of the next request are there, which also ends a connection that is not used.
    headers_within: Duration,
}

const STRANGER: Limits = Limits { streams: 4, headers_within: Duration::from_secs(10) };
/// Longer than clients keep a connection for the next request.
const CERTIFIED: Limits = Limits { streams: 8, headers_within: Duration::from_mins(2) };

/// Serves connections for ever; dropping the future ends them.
pub async fn serve_router(mut listener: Listener, router: Router) -> Infallible {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            (connection, peer) = listener.next() => {
                open.spawn(serve(connection, peer, router.clone()));
            }
            Some(_) = open.join_next() => {}
        }
    }
}

async fn serve(connection: Connection, peer: Peer, router: Router) {
    let limits = if peer.certificate.is_some() { CERTIFIED } else { STRANGER };
    let speaks_h2 = connection.speaks_h2();
    let (stream, address) = (TokioIo::new(connection), peer.address);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer.clone()));
        let answered = router.call(request);
        async move { Ok::<_, Infallible>(in_time(answered).await) }
    });
    let ended = if speaks_h2 {
        http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.streams)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEADERS)
            .max_send_buf_size(BUFFER)
            .max_pending_accept_reset_streams(RESETS)
            .max_local_error_reset_streams(RESETS)
            .serve_connection(stream, service)
            .await
    } else {
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.headers_within)
            .max_buf_size(BUFFER)
            .serve_connection(stream, service)
            .await
    };
    if let Err(error) = ended {
        tracing::debug!(%address, %error, "a connection ended early");
    }
}

/// The answer, or that there was none in time.
async fn in_time(answered: impl Future<Output = Result<Response<Body>, Infallible>>) -> Response<Body> {
    match timeout(DEADLINE, answered).await {
        Ok(Ok(response)) => response,
        Err(_) => {
            let refusal = Refusal::Failure { why: format!("it took longer than {} s", DEADLINE.as_secs()) };
            (StatusCode::SERVICE_UNAVAILABLE, Json(refusal.wire())).into_response()
        }
    }
}
