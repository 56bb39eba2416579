//! HTTP over TLS.
//!
//! One task accepts; each handshake runs in a task of its own with a deadline, and only connections that are through
//! reach the server. Dropping the listener ends the accepting task and closes the port.
//!
//! Any client may connect, so connections are counted (see [`crate::connection_limit`]), with three limits that do not compete:
//! handshakes under way, connections without a certificate, connections with one. What a connection costs in memory:
//!
//! ```text
//! a handshake      one message of at most 64 KiB and a record of 18 KiB             128 of them    11 MB
//! a connection     rustls: a record in, a record out, its own state       56 KiB
//! ```
//! The rest of a connection is its server's, which has its own sum.

use std::{
    fmt, io, mem,
    net::SocketAddr,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use axum::{extract::connect_info::Connected, serve::IncomingStream};
use rustls::{RootCertStore, ServerConfig, server::WebPkiClientVerifier};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::{
    Connection, Peer, ServerCertificate, TlsError,
    connection_limit::ConnectionLimit,
    distrust::{Distrust, distrusted},
    install_provider,
    pem::certificates,
};

/// Between machines of one network a handshake takes milliseconds.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// With a certificate: longer than clients keep an idle connection for the next request (90 s), so that they are the ones
/// to close it.
const IDLE: Duration = Duration::from_mins(2);
/// Without one: a node that has not joined says something every five seconds.
const IDLE_STRANGER: Duration = Duration::from_secs(15);
/// Handshakes under way, in all and from one address.
const HANDSHAKES: (usize, usize) = (128, 16);
/// Connections with a certificate, in all and from one address: a node has a handful.
const CERTIFIED: (usize, usize) = (1024, 16);
/// Connections without one: nodes that are about to join have two or three, and only for a moment.
const STRANGERS: (usize, usize) = (256, 16);
/// What rustls keeps of an answer until the other side takes it.
const SEND_BUFFER: usize = 16 * 1024;
/// After an error of `accept`, mostly too many open files: trying again at once would only burn a processor.
const AFTER_ERROR: Duration = Duration::from_millis(100);

type Accepted = (Connection, Peer);

/// Called for clients that broke off the handshake because they did not believe our certificate.
type OnHandshakeFailure = Arc<dyn Fn(Peer, Distrust) + Send + Sync>;

/// A TLS listener. Good for `axum::serve`, whose handlers then take `ConnectInfo<Peer>`; a service for strangers takes its
/// connections one by one and sets limits.
#[derive(Debug)]
pub struct Listener {
    local: SocketAddr,
    ready: mpsc::Receiver<Accepted>,
    clients: ClientCa,
}

/// Whose clients a listener believes, which can be replaced while it listens.
#[derive(Clone)]
pub struct ClientCa {
    certificate: ServerCertificate,
    current: Arc<RwLock<Current>>,
}

/// One CA after the other.
#[derive(Clone)]
struct Current {
    acceptor: TlsAcceptor,
    /// Ends every connection that was made under it.
    over: CancellationToken,
}

impl fmt::Debug for ClientCa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCa").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

impl ClientCa {
    fn new(certificate: &ServerCertificate, ca_pem: &str) -> Result<Self, TlsError> {
        let current = Arc::new(RwLock::new(Current::new(certificate, ca_pem)?));
        Ok(Self { certificate: certificate.clone(), current })
    }

    /// New connections are evaluated by this CA (PEM). Those that are open were evaluated by another one, and end. On an
    /// error everything stays.
    pub fn replace(&self, ca_pem: &str) -> Result<(), TlsError> {
        let next = Current::new(&self.certificate, ca_pem)?;
        let before = mem::replace(&mut *self.current.write().unwrap_or_else(PoisonError::into_inner), next);
        before.over.cancel();
        Ok(())
    }

    fn current(&self) -> Current {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Current {
    fn new(certificate: &ServerCertificate, ca_pem: &str) -> Result<Self, TlsError> {
        Ok(Self { acceptor: acceptor(certificate, ca_pem)?, over: CancellationToken::new() })
    }
}

impl Listener {
    /// Serves on this socket with this certificate. Clients may show a certificate of the given CA (PEM); one of
    /// another CA, or one that has expired, ends the handshake.
    ///
    /// Must be called inside a tokio runtime.
    pub fn new(tcp: TcpListener, certificate: &ServerCertificate, client_ca_pem: &str) -> Result<Self, TlsError> {
        Self::reporting(tcp, certificate, client_ca_pem, |_, _| ())
    }

    /// The same, and reports every client that broke off because it did not trust the certificate. It must be quick.
    pub fn reporting(
        tcp: TcpListener,
        certificate: &ServerCertificate,
        client_ca_pem: &str,
        on_failure: impl Fn(Peer, Distrust) + Send + Sync + 'static,
    ) -> Result<Self, TlsError> {
        let local = tcp.local_addr()?;
        let clients = ClientCa::new(certificate, client_ca_pem)?;
        let (through, ready) = mpsc::channel(64);
        tokio::spawn(accept(tcp, clients.clone(), through, Arc::new(on_failure)));
        Ok(Self { local, ready, clients })
    }

    /// Whose clients it believes, to be replaced later.
    pub fn clients(&self) -> ClientCa {
        self.clients.clone()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.local
    }

    /// The next connection whose handshake is done.
    pub async fn next(&mut self) -> (Connection, Peer) {
        match self.ready.recv().await {
            Some(accepted) => accepted,
            // The accepting task ends only after this receiver has gone.
            None => std::future::pending().await,
        }
    }
}

impl Connected<IncomingStream<'_, Listener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Listener>) -> Self {
        stream.remote_addr().clone()
    }
}

impl axum::serve::Listener for Listener {
    type Io = Connection;
    type Addr = Peer;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        self.next().await
    }

    fn local_addr(&self) -> io::Result<Peer> {
        Ok(Peer::new(self.local, None))
    }
}

fn acceptor(certificate: &ServerCertificate, client_ca_pem: &str) -> Result<TlsAcceptor, TlsError> {
    install_provider();
    let what = "CA";
    let mut roots = RootCertStore::empty();
    for ca in certificates(what, client_ca_pem)? {
        roots.add(ca).map_err(|source| TlsError::Unusable { what, source })?;
    }
    let verifier = WebPkiClientVerifier::builder(Arc::new(roots)).allow_unauthenticated().build()?;
    let mut config =
        ServerConfig::builder().with_client_cert_verifier(verifier).with_cert_resolver(certificate.resolver());
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Who is there, by how far it is known.
struct ConnectionLimits {
    handshakes: Arc<ConnectionLimit>,
    certified: Arc<ConnectionLimit>,
    strangers: Arc<ConnectionLimit>,
}

impl ConnectionLimits {
    fn new() -> Arc<Self> {
        let limit = |(most, most_per_address)| ConnectionLimit::new(most, most_per_address);
        Arc::new(Self { handshakes: limit(HANDSHAKES), certified: limit(CERTIFIED), strangers: limit(STRANGERS) })
    }
}

async fn accept(tcp: TcpListener, clients: ClientCa, through: mpsc::Sender<Accepted>, on_failure: OnHandshakeFailure) {
    let limits = ConnectionLimits::new();
    loop {
        let accepted = tokio::select! {
            () = through.closed() => return,
            accepted = tcp.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(AFTER_ERROR).await;
                continue;
            }
        };
        let current = clients.current();
        let slot = limits.handshakes.enter(address.ip().to_canonical(), &current.over);
        let (limits, through, on_failure) = (Arc::clone(&limits), through.clone(), Arc::clone(&on_failure));
        tokio::spawn(async move {
            let needed = slot.over().clone();
            tokio::select! {
                () = handshake(stream, address, current, &limits, through, on_failure) => {}
                () = needed.cancelled() => tracing::debug!(%address, "a TLS handshake made room for another"),
            }
            drop(slot);
        });
    }
}

async fn handshake(
    stream: TcpStream,
    address: SocketAddr,
    current: Current,
    limits: &ConnectionLimits,
    through: mpsc::Sender<Accepted>,
    on_failure: OnHandshakeFailure,
) {
    // Without it the first answer of every connection waits 40 ms for the other side's delayed acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%address, %error, "the connection is gone already");
        return;
    }
    match timeout(HANDSHAKE, current.acceptor.accept(stream)).await {
        Ok(Ok(mut stream)) => {
            let session = stream.get_mut().1;
            session.set_buffer_limit(Some(SEND_BUFFER));
            let certificate = session.peer_certificates().and_then(<[_]>::first).cloned();
            let speaks_h2 = session.alpn_protocol() == Some(b"h2");
            let (limit, idle) = match certificate {
                Some(_) => (&limits.certified, IDLE),
                None => (&limits.strangers, IDLE_STRANGER),
            };
            let slot = limit.enter(address.ip().to_canonical(), &current.over);
            let connection = Connection::new(stream, Some(slot), idle, current.over, speaks_h2);
            // There is no receiver any more: the service is stopping, and the connection closes with it.
            let _ = through.send((connection, Peer::new(address, certificate))).await;
        }
        Ok(Err(error)) => {
            tracing::debug!(%address, %error, "a TLS handshake failed");
            if let Some(why) = distrusted(&error) {
                on_failure(Peer::new(address, None), why);
            }
        }
        Err(_) => tracing::debug!(%address, "a TLS handshake took too long"),
    }
}
