//! Clients that mean no good: too much, too slow, nonsense, and again and again.

use std::time::Duration;

use join::{Applicant, Credential, token, wire::Refused};
use reqwest::StatusCode;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use crate::{
    leaving::member,
    world::{WORKER_01, WORKER_02, World},
};

async fn send(world: &World, body: impl Into<reqwest::Body>) -> (StatusCode, String) {
    let http = tls::client(&world.ca_pem, None).unwrap();
    let answer = http.post(format!("https://{}/v1/join", world.address)).body(body).send().await.unwrap();
    (answer.status(), answer.json::<Refused>().await.unwrap().diagnostic.code)
}

#[tokio::test]
async fn nonsense_is_answered_with_a_code() {
    let world = World::new().await;
    let deep = "[".repeat(20_000);
    let large = " ".repeat(100_000);
    let wrong_name = r#"{"cluster":"home","node":"a\nb","role":"worker","credential":{"token":{"id":"aaaaaa"}},
        "challenge":"","csrs":{"kubelet":"","kube_proxy":"","agent":""},"machine_id":null,"proof":""}"#;
    let cases: [(&[u8], u16, &str); 7] = [
        (b"", 400, "BS-JOIN-015"),
        (b"\xff\xfe\x00", 400, "BS-JOIN-015"),
        (b"null", 400, "BS-JOIN-015"),
        (b"{\"role\": \"emperor\"}", 400, "BS-JOIN-015"),
        (deep.as_bytes(), 400, "BS-JOIN-015"),
        (wrong_name.as_bytes(), 400, "BS-JOIN-015"),
        (large.as_bytes(), 413, "BS-JOIN-011"),
    ];
    for (body, status, code) in cases {
        let seen = send(&world, body.to_vec()).await;
        assert_eq!((seen.0.as_u16(), seen.1.as_str()), (status, code), "{} bytes", body.len());
    }
    let journal = world.journal();
    for code in ["BS-JOIN-015", "BS-JOIN-011"] {
        assert_eq!(
            journal.matches(code).count(),
            1,
            "the first of a kind is logged, the others are counted: {journal}"
        );
    }
    assert_eq!(world.signed(), 0);
}

#[tokio::test]
async fn queries_that_make_no_sense_are_answered_with_a_code() {
    let world = World::new().await;
    let http = tls::client(&world.ca_pem, None).unwrap();
    for query in ["hello?machine_id=xyz", "ca", "ca?token=aaaaaa&nonce=short", "ca?token=AA&nonce=0123456789abcdef"] {
        let answer = http.get(format!("https://{}/v1/{query}", world.address)).send().await.unwrap();
        assert_eq!(answer.json::<Refused>().await.unwrap().diagnostic.code, "BS-JOIN-015", "{query}");
    }
}

#[tokio::test]
async fn a_client_that_fails_too_often_waits_and_no_other() {
    let world = World::new().await;
    let guess =
        || Applicant { credential: Credential::Token(token::generate().unwrap()), ..world.applicant("worker-01") };
    let mut codes = Vec::new();
    for _ in 0..12 {
        let error = world.client().join(&guess()).await.unwrap_err();
        codes.push((explain::Explain::code(&error).id, error.is_retryable()));
    }
    assert_eq!(codes[..10], [("BS-JOIN-001", false); 10]);
    assert_eq!(codes[10..], [("BS-JOIN-014", true); 2]);
    assert!(world.journal().contains("BS-JOIN-014"));
    assert!(world.client().join(&world.applicant("worker-01")).await.is_err(), "not even with the right secret");

    world.come_from(WORKER_02);
    assert!(world.client().join(&world.applicant("worker-02")).await.is_ok(), "another node is not concerned");
    world.come_from(WORKER_01);
    let http = tls::client(&world.ca_pem, None).unwrap();
    let answer = http.get(format!("https://{}/v1/hello", world.address)).send().await.unwrap();
    let wait: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait));
}

#[tokio::test]
async fn a_body_that_never_ends_delays_no_client_and_is_cut_off() {
    let world = World::new().await;
    let mut stream = slow_request(&world).await;
    let others = timeout(Duration::from_secs(5), world.client().join(&world.applicant("worker-01"))).await;
    assert!(others.is_ok_and(|joined| joined.is_ok()), "joined while another one is slow");

    let mut answer = Vec::new();
    let ended = timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "answered and closed in time");
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("BS-JOIN-015"), "{answer}");
}

/// A request that promises a body and sends only its beginning.
async fn slow_request(world: &World) -> Stream {
    let mut stream = connect(world).await;
    let head = "POST /v1/join HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{\"cluster\":";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

type Stream = tokio_rustls::client::TlsStream<tokio::net::TcpStream>;

/// A connection without a certificate, on which anything can be sent in HTTP/1.
async fn connect(world: &World) -> Stream {
    use rustls_pki_types::{CertificateDer, ServerName, pem::PemObject};
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(world.ca_pem.as_bytes()).unwrap()).unwrap();
    let config = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let tcp = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    tokio_rustls::TlsConnector::from(std::sync::Arc::new(config)).connect(name, tcp).await.unwrap()
}

/// What came back until the connection was closed.
async fn answer(mut stream: Stream) -> String {
    let mut answer = Vec::new();
    // Where the server closes while we still have something to say, the rest is an error.
    let ended = timeout(Duration::from_secs(25), stream.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "closed in time");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn endless_headers_and_silence_end_the_connection() {
    let world = World::new().await;
    let mut large = connect(&world).await;
    large.write_all(format!("GET /v1/hello HTTP/1.1\r\nx: {}", "x".repeat(40_000)).as_bytes()).await.unwrap();
    let large = answer(large).await;
    assert!(large.is_empty() || large.starts_with("HTTP/1.1 431"), "{large}");

    let mut slow = connect(&world).await;
    slow.write_all(b"GET /v1/hello HTTP/1.1\r\nx: ").await.unwrap();
    let silent = connect(&world).await;
    let (slow, silent) = tokio::join!(answer(slow), answer(silent));
    assert_eq!((slow.as_str(), silent.as_str()), ("", ""));
}

#[tokio::test]
async fn bodies_of_strangers_have_bounds_and_leave_room_for_nodes() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let mut slow = Vec::new();
    for _ in 0..4 {
        let mut stream = connect(&world).await;
        let head = "POST /v1/join HTTP/1.1\r\nhost: localhost\r\ncontent-length: 65536\r\n\r\n";
        stream.write_all(format!("{head}{}", " ".repeat(65_000)).as_bytes()).await.unwrap();
        slow.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let (status, code) = send(&world, " ".repeat(10_000)).await;
    assert_eq!((status.as_u16(), code.as_str()), (503, "BS-JOIN-040"), "one address has its share and no more");

    let agent = member(&world, &joined.agent);
    let report = serde_json::json!({ "text": "x".repeat(60_000) });
    agent.report(&report).await.unwrap();
    drop(slow);
    world.come_from(WORKER_02);
    world.client().join(&world.applicant("worker-02")).await.unwrap();
}

#[tokio::test]
async fn a_pod_does_not_lock_out_the_agent_of_its_node() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let agent = member(&world, &joined.agent);
    let mut refused = Vec::new();
    for _ in 0..11 {
        refused.push(send(&world, "").await.1);
    }
    assert_eq!(refused[10], "BS-JOIN-014", "strangers at this address wait");
    agent.report(&serde_json::json!({})).await.expect("a certificate speaks for itself");
    agent.renew("worker-01", join::Whose::Ours, None).await.expect("it is not the pod");
}

#[tokio::test]
async fn a_hostile_node_is_held_back_alone() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let hostile = member(&world, &joined.agent);
    let code = |error: join::JoinError| explain::Explain::code(&error).id;
    let mut codes = Vec::new();
    for _ in 0..11 {
        codes.push(code(hostile.nodes().await.unwrap_err()));
    }
    assert_eq!((codes[0], codes[10]), ("BS-JOIN-017", "BS-JOIN-014"));
    world.client().hello(None).await.expect("strangers at its address are others");

    world.come_from(WORKER_02);
    let joined = world.client().join(&world.applicant("worker-02")).await.unwrap();
    let greedy = member(&world, &joined.agent);
    let mut fast = 0;
    let refused = loop {
        match greedy.renew("worker-02", join::Whose::Ours, None).await {
            Ok(_) if fast < 100 => fast += 1,
            Ok(_) => panic!("it was not held back"),
            Err(error) => break error,
        }
    };
    assert!(code(refused) == "BS-JOIN-041" && (4..20).contains(&fast), "{fast} renewals at once");
}
