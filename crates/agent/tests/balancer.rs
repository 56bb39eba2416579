//! The balancer on real sockets: dead, slow, dying and late masters.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failing unwrap in a test is the failure we want to see"
)]

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agent::Balancer;
use host::Host;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
    time::timeout,
};

/// Long enough for the slowest machine, short enough to see that something hangs.
const SOON: Duration = Duration::from_secs(20);

/// A master that says its name to everybody who says something, until it is aborted.
struct Master {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Master {
    async fn start(name: &'static str) -> Self {
        Self::at("127.0.0.1:0".parse().unwrap(), name).await
    }

    async fn at(address: SocketAddr, name: &'static str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            // Aborting this task closes the port and every connection, like the end of a process.
            let mut connections = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                connections.spawn(async move {
                    let mut buffer = [0; 64];
                    while let Ok(1..) = client.read(&mut buffer).await {
                        if client.write_all(name.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                    // What is sent after the client has closed its half still arrives.
                    let _ = client.write_all(b"bye").await;
                });
            }
        });
        Self { address, task }
    }

    async fn die(self) -> SocketAddr {
        self.task.abort();
        let _ = self.task.await;
        self.address
    }
}

/// An address without a listener.
async fn closed_port() -> SocketAddr {
    Master::start("closed").await.die().await
}

async fn balance(masters: &[SocketAddr], ca_file: impl Into<PathBuf>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let balancer = Balancer {
        host: Host::real(),
        masters: masters.to_vec(),
        temporary: None,
        rotation: 0,
        ca_file: ca_file.into(),
    };
    tokio::spawn(balancer.serve(listener));
    address
}

async fn ask(client: &mut TcpStream) -> String {
    let mut buffer = [0; 64];
    client.write_all(b"who are you?").await.unwrap();
    let length = timeout(SOON, client.read(&mut buffer)).await.expect("an answer in time").unwrap_or(0);
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

async fn connect_and_ask(balancer: SocketAddr) -> String {
    ask(&mut TcpStream::connect(balancer).await.unwrap()).await
}

#[tokio::test]
async fn a_dead_master_gets_no_client() {
    let (dead, alive) = (closed_port().await, Master::start("alive").await);
    let balancer = balance(&[dead, alive.address], "/nowhere").await;
    for _ in 0..5 {
        assert_eq!(connect_and_ask(balancer).await, "alive");
    }
}

#[tokio::test]
async fn silent_connections_keep_no_client_out() {
    let alive = Master::start("alive").await;
    let balancer = balance(&[alive.address], "/nowhere").await;
    let mut working = TcpStream::connect(balancer).await.unwrap();
    assert_eq!(ask(&mut working).await, "alive");
    let mut silent = Vec::new();
    for _ in 0..1100 {
        silent.push(TcpStream::connect(balancer).await.unwrap());
    }
    assert_eq!(timeout(SOON, connect_and_ask(balancer)).await.unwrap(), "alive", "a newcomer does not wait");
    assert_eq!(ask(&mut working).await, "alive", "who works stays");
    let mut first = silent.remove(0);
    let closed = timeout(SOON, first.read(&mut [0; 1])).await.expect("the oldest silent one was closed");
    assert!(matches!(closed, Ok(0) | Err(_)));
    let mut last = silent.pop().unwrap();
    let closed = timeout(SOON, last.read(&mut [0; 1])).await.expect("and a silent one is, after a while");
    assert!(matches!(closed, Ok(0) | Err(_)));
}

#[tokio::test]
async fn connections_are_spread() {
    let (one, two) = (Master::start("one").await, Master::start("two").await);
    let balancer = balance(&[one.address, two.address], "/nowhere").await;
    // Both are known to be healthy once both have answered a client.
    let mut open = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    timeout(SOON, async {
        while names.len() < 2 {
            let mut client = TcpStream::connect(balancer).await.unwrap();
            names.insert(ask(&mut client).await);
            open.push(client);
        }
    })
    .await
    .expect("both masters are used");
}

#[tokio::test]
async fn a_connection_is_held_until_a_master_appears() {
    let address = closed_port().await;
    let balancer = balance(&[address], "/nowhere").await;
    let mut client = TcpStream::connect(balancer).await.unwrap();
    let asked = tokio::spawn(async move { ask(&mut client).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!asked.is_finished(), "it must be held, not refused");
    let late = Master::at(address, "late").await;
    assert_eq!(asked.await.unwrap(), "late");
    drop(late);
}

#[tokio::test]
async fn a_held_connection_is_closed_in_the_end() {
    let balancer = balance(&[closed_port().await], "/nowhere").await;
    assert_eq!(connect_and_ask(balancer).await, "");
}

#[tokio::test]
async fn clients_of_a_dying_master_find_another_one() {
    let (dying, other) = (Master::start("dying").await, Master::start("other").await);
    let balancer = balance(&[dying.address, other.address], "/nowhere").await;
    let (mut clients, mut elsewhere) = (Vec::new(), Vec::new());
    while clients.len() < 4 {
        let mut client = TcpStream::connect(balancer).await.unwrap();
        let is_dying = ask(&mut client).await == "dying";
        // Those elsewhere stay open, so that the next ones go to the dying master again.
        if is_dying { &mut clients } else { &mut elsewhere }.push(client);
    }
    dying.die().await;
    for mut client in clients {
        let mut rest = Vec::new();
        let _ = timeout(SOON, client.read_to_end(&mut rest)).await.expect("the connection is closed");
        assert_eq!(connect_and_ask(balancer).await, "other");
    }
}

#[tokio::test]
async fn half_closed_connections_still_carry_the_answer() {
    let master = Master::start("name").await;
    let balancer = balance(&[master.address], "/nowhere").await;
    let mut client = TcpStream::connect(balancer).await.unwrap();
    assert_eq!(ask(&mut client).await, "name");
    client.shutdown().await.unwrap();
    let mut rest = String::new();
    timeout(SOON, client.read_to_string(&mut rest)).await.unwrap().unwrap();
    assert_eq!(rest, "bye");
}

/// An API server with TLS whose readiness and speed can be changed.
struct ApiServer {
    address: SocketAddr,
    ready: Arc<AtomicBool>,
    slow: Arc<AtomicBool>,
}

impl ApiServer {
    async fn start(ca: &CertifiedIssuer<'static, KeyPair>, name: &'static str) -> Self {
        let (ready, slow) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        let key = KeyPair::generate().unwrap();
        let cert = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, ca).unwrap();
        let certificate = tls::ServerCertificate::new(&cert.pem(), &key.serialize_pem()).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listener = tls::Listener::new(tcp, &certificate, &ca.pem()).unwrap();
        let address = listener.address();
        let (is_ready, is_slow) = (Arc::clone(&ready), Arc::clone(&slow));
        let readyz = move || async move {
            if is_slow.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
            if is_ready.load(Ordering::Relaxed) {
                axum::http::StatusCode::OK
            } else {
                axum::http::StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        let router = axum::Router::new()
            .route("/readyz", axum::routing::get(readyz))
            .route("/name", axum::routing::get(move || async move { name }));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, ready, slow }
    }
}

fn ca() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Asks the way a new client would: on a connection of its own.
async fn name_over_tls(balancer: SocketAddr, ca: &CertifiedIssuer<'static, KeyPair>) -> Option<String> {
    let client = tls::client(&ca.pem(), None).unwrap();
    let asking = async { client.get(format!("https://{balancer}/name")).send().await.ok()?.text().await.ok() };
    timeout(SOON, asking).await.expect("an answer or a refusal")
}

async fn until_only(balancer: SocketAddr, ca: &CertifiedIssuer<'static, KeyPair>, expected: &str) {
    timeout(SOON, async {
        let mut in_a_row = 0;
        while in_a_row < 5 {
            in_a_row = if name_over_tls(balancer, ca).await.as_deref() == Some(expected) { in_a_row + 1 } else { 0 };
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await
    .unwrap_or_else(|_| panic!("only {expected} answers"));
}

#[tokio::test]
async fn not_ready_and_silent_masters_are_left_and_come_back() {
    let ca = ca();
    let (one, two) = (ApiServer::start(&ca, "one").await, ApiServer::start(&ca, "two").await);
    let dir = tempfile::tempdir().unwrap();
    let ca_file = dir.path().join("ca.crt");
    std::fs::write(&ca_file, ca.pem()).unwrap();
    let balancer = balance(&[one.address, two.address], &ca_file).await;

    one.ready.store(false, Ordering::Relaxed);
    until_only(balancer, &ca, "two").await;
    one.ready.store(true, Ordering::Relaxed);
    two.slow.store(true, Ordering::Relaxed);
    until_only(balancer, &ca, "one").await;
}

#[tokio::test]
async fn a_master_that_turns_silent_loses_its_open_connections() {
    let ca = ca();
    let master = ApiServer::start(&ca, "one").await;
    let dir = tempfile::tempdir().unwrap();
    let ca_file = dir.path().join("ca.crt");
    std::fs::write(&ca_file, ca.pem()).unwrap();
    let balancer = balance(&[master.address], &ca_file).await;
    assert_eq!(name_over_tls(balancer, &ca).await.as_deref(), Some("one"));

    let mut open = TcpStream::connect(balancer).await.unwrap();
    master.slow.store(true, Ordering::Relaxed);
    let mut rest = Vec::new();
    let _ = timeout(SOON, open.read_to_end(&mut rest)).await.expect("the connection is closed");
    assert_eq!(rest, b"");
}

#[tokio::test]
async fn a_master_of_another_cluster_gets_no_client() {
    let (ca, foreign) = (ca(), ca());
    let (stranger, ours) = (ApiServer::start(&foreign, "stranger").await, ApiServer::start(&ca, "ours").await);
    let dir = tempfile::tempdir().unwrap();
    let ca_file = dir.path().join("ca.crt");
    std::fs::write(&ca_file, ca.pem()).unwrap();
    let balancer = balance(&[stranger.address, ours.address], &ca_file).await;
    for _ in 0..10 {
        assert_eq!(name_over_tls(balancer, &ca).await.as_deref(), Some("ours"));
    }
}
