//! Whom a node believes, and what it says when it does not.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use explain::Explain;
use join::{Applicant, Client, Credential, JoinError, Trust, server};
use tokio::{net::TcpListener, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::world::World;

async fn closed_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

#[tokio::test]
async fn another_clusters_ca_is_not_believed() {
    let (world, other) = (World::new().await, World::new().await);
    let client = Client::new(vec![other.address], Trust::Ca(world.ca_pem.clone()));
    let error = client.join(&world.applicant("worker-01")).await.unwrap_err();
    assert_eq!(error.code().id, "BS-JOIN-020", "the same names, another key: {error}");
    assert!(!error.is_retryable());
    assert_eq!(other.signed(), 0);
}

#[tokio::test]
async fn a_master_that_is_not_there_is_waited_for() {
    let world = World::new().await;
    let away = closed_port().await;
    let client = Client::new(vec![away], Trust::Ca(world.ca_pem.clone()));
    let first = client.join(&world.applicant("worker-01")).await.unwrap_err();
    assert_eq!(first.code().id, "BS-JOIN-019");
    assert!(first.is_retryable());
    let since = |error: &JoinError| match error {
        JoinError::Unreachable { tried } => (tried[0].master, tried[0].since),
        other => panic!("{other}"),
    };
    let second = client.join(&world.applicant("worker-01")).await.unwrap_err();
    assert_eq!(since(&first), since(&second), "the second failure reports since when");
    assert_eq!(since(&first).0, away);
    assert!(second.to_string().contains("Connection refused"), "{second}");
}

#[tokio::test]
async fn the_next_master_is_tried() {
    let world = World::new().await;
    let client = Client::new(vec![closed_port().await, world.address], Trust::Ca(world.ca_pem.clone()));
    assert_eq!(client.join(&world.applicant("worker-01")).await.unwrap().master, world.address);
}

#[tokio::test]
async fn an_impostor_without_the_token_proves_nothing() {
    let (world, impostor) = (World::new().await, World::new().await);
    let token = world.new_token(None, None);
    let copied = impostor.new_token(None, None);
    impostor.rename_token(&copied.id, &token.id);
    let client = Client::new(vec![impostor.address], Trust::Token(token.clone()));
    let applicant = Applicant { credential: Credential::Token(token.clone()), ..world.applicant("worker-01") };
    let error = client.join(&applicant).await.unwrap_err();
    assert_eq!(error.code().id, "BS-JOIN-023", "{error}");
    assert_eq!(impostor.signed(), 0);

    let client = Client::new(vec![impostor.address, world.address], Trust::Token(token));
    assert_eq!(client.join(&applicant).await.unwrap().master, world.address, "the real one is found behind it");
}

#[tokio::test]
async fn a_service_that_is_stopped_is_gone() {
    let world = World::new().await;
    let certificate = tls::ServerCertificate::new(&world.certificate.0, &world.certificate.1).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listener = tls::Listener::new(tcp, &certificate, &world.ca_pem).unwrap();
    let address = listener.address();
    let client = Client::new(vec![address], Trust::Ca(world.ca_pem.clone()));
    let stop = CancellationToken::new();
    let serving = tokio::spawn(server::serve(listener, world.setup(), stop.clone()));
    assert_eq!(client.hello(None).await.unwrap().1.master, "master-01");
    stop.cancel();
    serving.await.unwrap().unwrap();
    let gone = async {
        while tokio::net::TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(timeout(Duration::from_secs(10), gone).await.is_ok(), "its port is closed");
}

#[tokio::test]
async fn something_else_at_the_address_is_reported() {
    let world = World::new().await;
    let certificate = tls::ServerCertificate::new(&world.certificate.0, &world.certificate.1).unwrap();
    let tcp = TcpListener::bind((IpAddr::from([127, 0, 0, 1]), 0)).await.unwrap();
    let listener = tls::Listener::new(tcp, &certificate, &world.ca_pem).unwrap();
    let address = listener.address();
    tokio::spawn(async move { axum::serve(listener, axum::Router::new()).await });
    let client = Client::new(vec![address], Trust::Ca(world.ca_pem.clone()));
    let error = client.hello(None).await.unwrap_err();
    assert_eq!(error.code().id, "BS-JOIN-024");
    assert_eq!(
        error.to_string().replace(&address.to_string(), "ADDRESS"),
        "unexpected answer from ADDRESS: it has the HTTP status 404"
    );
}
