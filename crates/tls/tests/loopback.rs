//! A real listener and real clients on loopback.

#![expect(clippy::unwrap_used, reason = "a failing unwrap in a test is the failure we want to see")]

use std::{net::SocketAddr, time::Duration};

use axum::{Router, extract::ConnectInfo, routing::get};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, SanType, date_time_ymd,
};
use tls::{ClientCa, Distrust, Listener, Peer, ServerCertificate, client, distrust, unproven_client};
use tokio::{
    io::AsyncReadExt,
    net::{TcpListener, TcpStream},
    time::timeout,
};

const SOON: Duration = Duration::from_secs(20);

struct Ca {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Ca {
    /// All of the same subject, as those of two clusters are.
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "kubernetes");
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    fn sign(&self, change: impl FnOnce(&mut CertificateParams)) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.subject_alt_names = vec![SanType::IpAddress([127, 0, 0, 1].into())];
        change(&mut params);
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

async fn whoami(ConnectInfo(peer): ConnectInfo<Peer>) -> String {
    let shown = if peer.certificate.is_some() { "certificate" } else { "nothing" };
    format!("{} with {shown}", peer.ip())
}

async fn port(ConnectInfo(peer): ConnectInfo<Peer>) -> String {
    peer.address.port().to_string()
}

async fn serve(certificate: &ServerCertificate, client_ca: &str) -> SocketAddr {
    serve_replaceably(certificate, client_ca).await.0
}

async fn serve_replaceably(certificate: &ServerCertificate, client_ca: &str) -> (SocketAddr, ClientCa) {
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listener = Listener::new(tcp, certificate, client_ca).unwrap();
    let (address, clients) = (listener.address(), listener.clients());
    let router = Router::new().route("/", get(whoami)).route("/port", get(port));
    tokio::spawn(async move { axum::serve(listener, router.into_make_service_with_connect_info::<Peer>()).await });
    (address, clients)
}

async fn ask(client: &reqwest::Client, address: SocketAddr) -> Result<String, reqwest::Error> {
    client.get(format!("https://{address}/")).send().await?.text().await
}

#[tokio::test]
async fn a_handler_learns_the_peer() {
    let ours = Ca::new();
    let (cert, key) = ours.sign(|_| ());
    let address = serve(&ServerCertificate::new(&cert, &key).unwrap(), &ours.pem).await;
    let (own, own_key) = ours.sign(|_| ());
    let (foreign, foreign_key) = Ca::new().sign(|_| ());
    let known = client(&ours.pem, Some((&own, &own_key))).unwrap();
    let stranger = client(&ours.pem, Some((&foreign, &foreign_key))).unwrap();
    assert_eq!(ask(&known, address).await.unwrap(), "127.0.0.1 with certificate");
    assert_eq!(ask(&client(&ours.pem, None).unwrap(), address).await.unwrap(), "127.0.0.1 with nothing");
    assert!(ask(&stranger, address).await.is_err(), "a certificate of another CA ends the handshake");
    assert_eq!(ask(&unproven_client().unwrap(), address).await.unwrap(), "127.0.0.1 with nothing");
}

#[tokio::test]
async fn a_server_that_is_not_trusted_differs_from_one_that_is_not_there() {
    let (ours, other) = (Ca::new(), Ca::new());
    let cases = [
        (other.sign(|_| ()), Distrust::Ca),
        (ours.sign(|params| params.not_after = date_time_ymd(2001, 1, 1)), Distrust::Time),
        (ours.sign(|params| params.not_before = date_time_ymd(2095, 1, 1)), Distrust::Time),
        (
            ours.sign(|params| params.subject_alt_names = vec![SanType::IpAddress([192, 0, 2, 1].into())]),
            Distrust::Name,
        ),
    ];
    for ((cert, key), expected) in cases {
        let address = serve(&ServerCertificate::new(&cert, &key).unwrap(), &ours.pem).await;
        let error = ask(&client(&ours.pem, None).unwrap(), address).await.unwrap_err();
        assert_eq!(distrust(&error), Some(expected), "{error:?}");
    }
    let closed_port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = ask(&client(&ours.pem, None).unwrap(), closed_port).await.unwrap_err();
    assert_eq!(distrust(&error), None);
}

#[tokio::test]
async fn a_server_hears_why_it_was_not_believed() {
    let (ours, other) = (Ca::new(), Ca::new());
    for ((cert, key), expected) in [
        (other.sign(|_| ()), Distrust::Ca),
        (ours.sign(|params| params.not_after = date_time_ymd(2001, 1, 1)), Distrust::Time),
        (
            ours.sign(|params| params.subject_alt_names = vec![SanType::IpAddress([192, 0, 2, 1].into())]),
            Distrust::Name,
        ),
    ] {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (emit, mut reported) = tokio::sync::mpsc::unbounded_channel();
        let certificate = ServerCertificate::new(&cert, &key).unwrap();
        let on_failure = move |peer: Peer, why| emit.send((peer.ip(), why)).unwrap();
        let listener = Listener::reporting(tcp, &certificate, &ours.pem, on_failure).unwrap();
        assert!(ask(&client(&ours.pem, None).unwrap(), listener.address()).await.is_err());
        let heard = timeout(SOON, reported.recv()).await.unwrap();
        assert_eq!(heard, Some(([127, 0, 0, 1].into(), expected)));
    }
}

#[tokio::test]
async fn a_replaced_certificate_is_the_one_that_is_shown() {
    let (before, after) = (Ca::new(), Ca::new());
    let (cert, key) = before.sign(|_| ());
    let certificate = ServerCertificate::new(&cert, &key).unwrap();
    let address = serve(&certificate, &before.pem).await;
    let ask_as = async |ca: &Ca| ask(&client(&ca.pem, None).unwrap(), address).await.is_ok();
    assert!(ask_as(&before).await);

    assert!(certificate.replace(&cert, "no key").is_err());
    assert!(ask_as(&before).await, "what cannot be used replaces nothing");

    let (cert, key) = after.sign(|_| ());
    certificate.replace(&cert, &key).unwrap();
    assert!(ask_as(&after).await);
    assert!(!ask_as(&before).await);
}

#[tokio::test]
async fn a_replaced_ca_is_the_one_that_clients_are_evaluated_by() {
    let (before, after) = (Ca::new(), Ca::new());
    let (cert, key) = before.sign(|_| ());
    let certificate = ServerCertificate::new(&cert, &key).unwrap();
    let (address, clients) = serve_replaceably(&certificate, &before.pem).await;
    let ask_as = async |ca: &Ca| {
        let (cert, key) = ca.sign(|_| ());
        ask(&client(&before.pem, Some((&cert, &key))).unwrap(), address).await.is_ok()
    };
    assert!(ask_as(&before).await && !ask_as(&after).await);
    let (cert, key) = before.sign(|_| ());
    let kept = client(&before.pem, Some((&cert, &key))).unwrap();
    ask(&kept, address).await.unwrap();

    assert!(clients.replace("no certificate").is_err());
    assert!(ask_as(&before).await, "what cannot be used replaces nothing");

    clients.replace(&after.pem).unwrap();
    assert!(ask_as(&after).await && !ask_as(&before).await);
    assert!(ask(&kept, address).await.is_err(), "nor does a connection outlive the CA that it was made under");
}

#[tokio::test]
async fn silent_clients_delay_no_other_and_are_bounded() {
    let ours = Ca::new();
    let (cert, key) = ours.sign(|_| ());
    let address = serve(&ServerCertificate::new(&cert, &key).unwrap(), &ours.pem).await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let patient = client(&ours.pem, None).unwrap();
    let answer = timeout(Duration::from_secs(5), ask(&patient, address)).await;
    assert!(answer.is_ok_and(|answer| answer.is_ok()), "answered while eight handshakes hang");

    for _ in 0..56 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let mut first = silent.remove(0);
    let closed = timeout(Duration::from_secs(5), first.read(&mut [0; 1])).await.unwrap();
    assert!(matches!(closed, Ok(0) | Err(_)), "the oldest makes room at once, before the handshake's deadline");
    let newcomer = timeout(Duration::from_secs(5), ask(&client(&ours.pem, None).unwrap(), address)).await;
    assert!(newcomer.is_ok_and(|answer| answer.is_ok()), "a newcomer gets in, however many hang");

    for mut stream in silent {
        let ended = timeout(SOON, stream.read(&mut [0; 1])).await.expect("the deadline of the handshake");
        assert!(matches!(ended, Ok(0) | Err(_)));
    }
    assert!(ask(&client(&ours.pem, None).unwrap(), address).await.is_ok(), "their slots were given back");
}

#[tokio::test]
async fn strangers_never_take_the_places_of_those_with_a_certificate() {
    let ours = Ca::new();
    let (cert, key) = ours.sign(|_| ());
    let address = serve(&ServerCertificate::new(&cert, &key).unwrap(), &ours.pem).await;
    let (own, own_key) = ours.sign(|_| ());
    let known = client(&ours.pem, Some((&own, &own_key))).unwrap();
    let port = async || known.get(format!("https://{address}/port")).send().await.unwrap().text().await.unwrap();
    let before = port().await;
    let mut strangers = Vec::new();
    for _ in 0..40 {
        let stranger = client(&ours.pem, None).unwrap();
        assert!(ask(&stranger, address).await.is_ok(), "each newcomer is served");
        strangers.push(stranger);
    }
    assert_eq!(port().await, before, "the same connection is still there");
}

#[tokio::test]
async fn a_dropped_listener_closes_its_port() {
    let ours = Ca::new();
    let (cert, key) = ours.sign(|_| ());
    let certificate = ServerCertificate::new(&cert, &key).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listener = Listener::new(tcp, &certificate, &ours.pem).unwrap();
    let address = listener.address();
    drop(listener);
    let closed = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, closed).await.expect("the listener is closed");
}
