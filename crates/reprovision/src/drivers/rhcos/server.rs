//! Stand-ins for an ignition server and for a registry, in one server with TLS of its own.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use axum::{
    Router,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header::WWW_AUTHENTICATE},
    response::{IntoResponse, Response},
    routing::get,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SanType};
use tls::{Listener, Peer, ServerCertificate};
use tokio::net::TcpListener;

use super::samples::Sample;

/// One that serves.
pub(super) struct Server {
    pub(super) address: String,
    pub(super) ca: String,
    served: Arc<AtomicU32>,
}

#[derive(Clone)]
struct Serving {
    address: String,
    served: Arc<AtomicU32>,
}

impl Server {
    pub(super) async fn start() -> Self {
        let ca_key = KeyPair::generate().unwrap();
        let mut ca = CertificateParams::default();
        ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca_pem = ca.self_signed(&ca_key).unwrap().pem();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![SanType::IpAddress([127, 0, 0, 1].into())];
        let certificate = params.signed_by(&key, &Issuer::new(ca, ca_key)).unwrap().pem();
        let certificate = ServerCertificate::new(&certificate, &key.serialize_pem()).unwrap();

        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listener = Listener::new(tcp, &certificate, &ca_pem).unwrap();
        let (address, served) = (listener.address().to_string(), Arc::new(AtomicU32::new(0)));
        let serving = Serving { address: address.clone(), served: served.clone() };
        let router = Router::new()
            .route("/ignition", get(ignition))
            .route("/v2/{kind}/os/manifests/{digest}", get(manifest))
            .route("/token", get(token))
            .with_state(serving);
        tokio::spawn(async move { axum::serve(listener, router.into_make_service_with_connect_info::<Peer>()).await });
        Self { address, ca: ca_pem, served }
    }

    /// How often a payload was given.
    pub(super) fn served(&self) -> u32 {
        self.served.load(Ordering::Relaxed)
    }
}

fn shown(headers: &HeaderMap) -> &str {
    headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn basic() -> String {
    format!("Basic {}", STANDARD.encode("core:hunter2"))
}

async fn ignition(State(serving): State<Serving>, headers: HeaderMap) -> Response {
    if shown(&headers) != format!("Bearer {}", STANDARD.encode("hunter2")) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    serving.served.fetch_add(1, Ordering::Relaxed);
    Sample::default().served().into_response()
}

async fn manifest(
    State(serving): State<Serving>,
    Path((kind, _)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let address = serving.address;
    let (wants, challenge) = match kind.as_str() {
        "open" => return StatusCode::OK.into_response(),
        "basic" => (basic(), r#"Basic realm="a registry""#.to_owned()),
        "bearer" => {
            let scope = "repository:bearer/os:pull";
            let challenge = format!(r#"Bearer realm="https://{address}/token",service="registry.lab",scope="{scope}""#);
            ("Bearer a-token".to_owned(), challenge)
        }
        "odd" => (String::from("never"), "Negotiate".to_owned()),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    if shown(&headers) == wants {
        return StatusCode::OK.into_response();
    }
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)]).into_response()
}

async fn token(headers: HeaderMap, Query(asked): Query<std::collections::BTreeMap<String, String>>) -> Response {
    let is_right = asked.get("service").is_some_and(|service| service == "registry.lab")
        && asked.get("scope").is_some_and(|scope| scope == "repository:bearer/os:pull");
    if !is_right || shown(&headers) != basic() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    r#"{"token": "a-token", "expires_in": 60}"#.into_response()
}
