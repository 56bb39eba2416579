//! A real server with TLS on loopback.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode, header::LOCATION},
    response::{IntoResponse, Response},
    routing::post,
};
use kubeapi::k8s_openapi::ByteString;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SanType};
use tls::{Listener, Peer, ServerCertificate};
use tokio::net::TcpListener;

use super::*;
use crate::{NodeUpgradeSpec, Phase};

const TOKEN: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

type Requests = Arc<Mutex<Vec<(String, HeaderMap, Bytes)>>>;

/// A CA, and a certificate of it for this address with its key.
fn certificates() -> (String, String, String) {
    let ca_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = params.self_signed(&ca_key).unwrap().pem();
    let issuer = Issuer::new(params, ca_key);
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.subject_alt_names = vec![SanType::IpAddress([127, 0, 0, 1].into())];
    (ca, params.signed_by(&key, &issuer).unwrap().pem(), key.serialize_pem())
}

fn answer(path: &str) -> Response {
    let status = |number| StatusCode::from_u16(number).unwrap();
    match path {
        "/ok" => (status(202), "thanks").into_response(),
        "/moved" => (status(307), [(LOCATION, "/ok")], "over there").into_response(),
        "/busy" => (status(429), [(RETRY_AFTER, "42")], "later").into_response(),
        "/long" => (status(500), format!("\u{1b}[2J\n{}", "x".repeat(100_000))).into_response(),
        "/echo" => (status(401), format!("bad token {TOKEN}")).into_response(),
        _ => (status(404), "").into_response(),
    }
}

/// Its address, its CA, and what it was sent.
async fn serve() -> (String, String, Requests) {
    let (ca, certificate, key) = certificates();
    let certificate = ServerCertificate::new(&certificate, &key).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listener = Listener::new(tcp, &certificate, &ca).unwrap();
    let address = format!("https://{}", listener.address());
    let requests = Requests::default();
    let seen = Arc::clone(&requests);
    let handle = async move |uri: axum::http::Uri, headers: HeaderMap, body: Bytes| {
        seen.lock().unwrap().push((uri.path().to_owned(), headers, body));
        answer(uri.path())
    };
    let router = Router::new().route("/{*path}", post(handle));
    tokio::spawn(async move { axum::serve(listener, router.into_make_service_with_connect_info::<Peer>()).await });
    (address, ca, requests)
}

fn destination(url: &str, ca: &str) -> Destination {
    let pairs = [("progress-url", url), ("progress-token", TOKEN), ("progress-ca.crt", ca), ("worker-id", "w-1")];
    let value = |text: &str| ByteString(text.as_bytes().to_vec());
    Destination::read(&pairs.map(|(key, text)| (key.to_owned(), value(text))).into()).unwrap().unwrap()
}

async fn send(destination: &Destination) -> (CloudEvent, Answer) {
    send_by(&destination.client().unwrap(), destination).await
}

async fn send_by(client: &Client, destination: &Destination) -> (CloudEvent, Answer) {
    let mut object = NodeUpgrade::new("worker-01", NodeUpgradeSpec::default());
    object.metadata.uid = Some("3f2a".into());
    let event = Event { seq: 7, phase: Phase::Draining, message: "its pods leave it".into(), ..Event::default() };
    let event = destination.event(&object, &event);
    let answer = destination.send(client, &event).await;
    assert!(!format!("{answer:?} {answer}").contains(&TOKEN[6..]));
    (event, answer)
}

#[tokio::test]
async fn what_is_sent_is_signed_and_whole() {
    let (address, ca, requests) = serve().await;
    let destination = destination(&format!("{address}/ok?key=hidden"), &ca);
    let (event, answer) = send(&destination).await;
    let accepted = Outcome::Answered { status: StatusCode::ACCEPTED, retry_after: None, text: String::new() };
    assert_eq!(answer, Answer { seq: 7, outcome: accepted });

    let requests = requests.lock().unwrap();
    let [(_, headers, body)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(body.to_vec(), serde_json::to_vec(&event).unwrap());
    assert_eq!(headers["content-type"], "application/cloudevents+json");
    assert_eq!(headers["authorization"], format!("Bearer {TOKEN}"));
    let second: i64 = headers["webhook-timestamp"].to_str().unwrap().parse().unwrap();
    let at = Timestamp::from_second(second).unwrap();
    assert!(Timestamp::now().duration_since(at).as_secs() < 60, "signed when it was sent, not when it was noted");
    for (name, value) in destination.key.headers("3f2a/7", at, body) {
        assert_eq!(headers[name], value);
    }
}

#[tokio::test]
async fn each_answer_comes_back_as_it_is() {
    let (address, ca, requests) = serve().await;
    for (path, expected) in [
        ("/moved", "the progress API answers 307 Temporary Redirect: over there"),
        ("/busy", "the progress API answers 429 Too Many Requests: later"),
        ("/none", "the progress API answers 404 Not Found"),
        ("/echo", "the progress API answers 401 Unauthorized: (its text repeats the token, and is not shown)"),
    ] {
        let (_, answer) = send(&destination(&format!("{address}{path}"), &ca)).await;
        assert_eq!(answer.to_string(), expected);
        let Outcome::Answered { retry_after, .. } = answer.outcome else { panic!("{path}") };
        assert_eq!(retry_after.as_deref(), (path == "/busy").then_some("42"));
    }
    let (_, long) = send(&destination(&format!("{address}/long"), &ca)).await;
    let shown = long.to_string();
    assert!(!shown.contains('\u{1b}') && shown.ends_with("xxx") && shown.len() < 300, "{shown}");
    let paths: Vec<String> = requests.lock().unwrap().iter().map(|(path, ..)| path.clone()).collect();
    assert_eq!(paths, ["/moved", "/busy", "/none", "/echo", "/long"], "no redirect is followed");
}

#[tokio::test]
async fn a_server_that_is_not_there_or_not_believed_gets_no_token() {
    let (address, _, requests) = serve().await;
    let (other, ..) = certificates();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for (url, expected) in [
        (format!("{address}/ok?key=hidden"), "invalid peer certificate"),
        (format!("https://{closed}/ok?key=hidden"), "Connection refused"),
    ] {
        let (_, answer) = send(&destination(&url, &other)).await;
        let Outcome::Unanswered(why) = answer.outcome else { panic!("{answer:?}") };
        assert!(why.starts_with("127.0.0.1: ") && why.contains(expected) && !why.contains("hidden"), "{why}");
    }
    assert!(requests.lock().unwrap().is_empty());
}

/// Of the system's CAs none has signed it.
#[tokio::test]
async fn without_a_ca_the_system_decides() {
    let (address, _, requests) = serve().await;
    // A machine without any CA has no such client; that is an answer, too.
    let answer = match destination(&format!("{address}/ok"), "").client() {
        Ok(_) => Some(send(&destination(&format!("{address}/ok"), "")).await.1.outcome),
        Err(_) => None,
    };
    assert!(matches!(answer, None | Some(Outcome::Unanswered(_))), "{answer:?}");
    assert!(requests.lock().unwrap().is_empty());
}

/// Nothing but the timers runs, so the clock goes on to the first of them; the client has none of its own.
#[tokio::test(start_paused = true)]
async fn a_silent_server_is_given_up_in_ten_seconds() {
    tls::install_provider();
    let client = Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let destination = destination(&format!("https://{}/", silent.local_addr().unwrap()), "");
    let begun = tokio::time::Instant::now();
    let (_, answer) = send_by(&client, &destination).await;
    let Outcome::Unanswered(why) = answer.outcome else { panic!("{answer:?}") };
    assert!(why.contains("timed out"), "{why}");
    assert_eq!(begun.elapsed().as_secs(), 10);
}
