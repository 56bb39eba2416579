//! Every refusal: the same code in the master's journal and on the node, and nothing signed.

use std::sync::Arc;

use explain::Explain;
use jiff::{SignedDuration, Timestamp};
use join::{
    Applicant, Client, Credential, Generation, JoinKey, Trust,
    server::Setup,
    token,
    wire::{ClaimedRole, Hello, JoinCsrs, JoinRequest, Refused},
};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use secrecy::ExposeSecret;

use crate::world::{Held, WORKER_02, World};

type Case = (&'static str, fn(&World) -> Applicant);

/// What an honest program sends, with one thing wrong.
const CASES: &[Case] = &[
    ("a token that was never made", |world| {
        with(world, Credential::Token(token::parse("aaaaaa.0123456789abcdef").unwrap()))
    }),
    ("a token with another secret", |world| {
        let id = world.new_token(None, None).id;
        with(world, Credential::Token(token::parse(&format!("{id}.0123456789abcdef")).unwrap()))
    }),
    ("an expired token", |world| {
        let token = world.new_token(Some("2026-01-01T00:00:00Z".parse().unwrap()), None);
        with(world, Credential::Token(token))
    }),
    ("another node's token", |world| {
        let token = world.new_token(None, Some("worker-02"));
        with(world, Credential::Token(token))
    }),
    ("a secret of another cluster's key", |world| {
        with(world, Credential::NodeSecret(JoinKey::generate().unwrap().node_secret("worker-01", Generation(9), None)))
    }),
    ("another node's secret", |world| with(world, Credential::NodeSecret(world.secret("worker-02")))),
    ("another node's name", |world| Applicant { node: "worker-02".into(), ..world.applicant("worker-01") }),
    ("a name that is not in cluster.yaml", |world| {
        let token = world.new_token(None, None);
        Applicant { node: "worker-99".into(), ..with(world, Credential::Token(token)) }
    }),
    ("a worker as master", |world| Applicant { role: ClaimedRole::Master, ..world.applicant("worker-01") }),
    ("another address", |world| {
        world.come_from(WORKER_02);
        world.applicant("worker-01")
    }),
    ("another node's machine", |world| {
        world.know_machine(&join::machine_id("clone"), "worker-02");
        Applicant { machine_id: Some(join::machine_id("clone")), ..world.applicant("worker-01") }
    }),
    ("a token while the API is away", |world| {
        let token = world.new_token(None, None);
        world.take_api_away(true);
        with(world, Credential::Token(token))
    }),
];

fn with(world: &World, credential: Credential) -> Applicant {
    Applicant { credential, ..world.applicant("worker-01") }
}

#[tokio::test]
async fn each_has_its_code_on_both_sides_and_leaves_nothing_behind() {
    let mut report = Vec::new();
    for (what, prepare) in CASES {
        let world = World::new().await;
        let applicant = prepare(&world);
        let error = world.client().join(&applicant).await.expect_err(what);
        let code = error.code();
        let journal = world.journal();
        let line = journal.lines().find(|line| line.contains("WARN")).unwrap_or_default();
        assert!(line.contains(code.id), "{what}: the master says `{line}`");
        assert!(line.contains(&format!("claimed=\"{}\"", applicant.node)) && line.contains("peer="), "{line}");
        assert_eq!(world.signed(), 0, "{what}: nothing was signed");
        let retryable = if error.is_retryable() { ", retryable" } else { "" };
        let message = error.to_string().replace(&world.address.to_string(), "ADDRESS");
        let message = without_tokens_and_times(&message);
        report.push(format!("{what}: {code}{retryable}: {message}"));

        world.come_from(crate::world::WORKER_01);
        world.take_api_away(false);
        let honest = world.client().join(&world.applicant("worker-01")).await;
        assert!(honest.is_ok(), "{what}: the refusal stands in no other node's way: {honest:?}");
    }
    insta::assert_snapshot!(report.join("\n"));
}

/// Ids of tokens and moments differ from run to run.
fn without_tokens_and_times(message: &str) -> String {
    match message.split_once(", and it is ") {
        Some((front, _)) => format!("{front}, and it is NOW"),
        None => message.to_owned(),
    }
}

#[tokio::test]
async fn a_clone_is_noticed_without_the_api_too() {
    let world = World::new().await;
    world.take_api_away(true);
    world.client().join(&world.applicant("worker-01")).await.unwrap();
    world.come_from(WORKER_02);
    let clone = Applicant { machine_id: Some(join::machine_id("worker-01")), ..world.applicant("worker-02") };
    assert_eq!(world.client().join(&clone).await.unwrap_err().code().id, "BS-JOIN-010");
}

#[tokio::test]
async fn a_master_that_cannot_help_says_so_and_another_one_is_asked() {
    let world = World::new().await;
    let keyless =
        world.serve(Setup { key_store: Arc::new(Held { join_key: None, ..world.held() }), ..world.setup() }).await;
    let client = |masters| Client::new(masters, Trust::Ca(world.ca_pem.clone()));
    let error = client(vec![keyless]).join(&world.applicant("worker-01")).await.unwrap_err();
    assert_eq!((error.code().id, error.is_retryable()), ("BS-JOIN-016", true));
    assert!(world.journal().contains("BS-JOIN-016"));
    let joined = client(vec![keyless, world.address]).join(&world.applicant("worker-01")).await.unwrap();
    assert_eq!(joined.master, world.address);

    std::fs::remove_file(world.sealed.path().join("master-01/pki/ca.key")).unwrap();
    let error = world.client().join(&world.applicant("worker-01")).await.unwrap_err();
    assert_eq!((error.code().id, error.is_retryable()), ("BS-JOIN-018", true));
    assert!(world.journal().contains("pki/ca.key is not here"));
}

#[tokio::test]
async fn an_expired_secret_is_refused_by_the_masters_clock() {
    let world = World::new().await;
    let soon = Timestamp::now() + SignedDuration::from_secs(3600);
    let applicant = with(&world, Credential::NodeSecret(world.later_secret("worker-01", 1, Some(soon))));
    assert!(world.client().join(&applicant).await.is_ok());
    world.shift_clock(3601);
    assert_eq!(world.client().join(&applicant).await.unwrap_err().code().id, "BS-JOIN-003");
    assert_eq!(world.signed(), 3);
}

#[tokio::test]
async fn an_expired_token_proves_no_ca() {
    let world = World::new().await;
    let token = world.new_token(Some("2026-01-01T00:00:00Z".parse().unwrap()), None);
    let client = Client::new(vec![world.address], Trust::Token(token.clone()));
    assert_eq!(client.join(&with(&world, Credential::Token(token))).await.unwrap_err().code().id, "BS-JOIN-003");
}

#[tokio::test]
async fn a_node_does_not_join_a_cluster_of_another_name() {
    let world = World::new().await;
    let applicant = Applicant { cluster: "away".into(), ..world.applicant("worker-01") };
    let error = world.client().join(&applicant).await.unwrap_err();
    assert_eq!(error.code().id, "BS-JOIN-013");
    assert!(!error.is_retryable());

    let mut request = request(&world, &honest_csrs()).await;
    request.cluster = "away".into();
    assert_eq!(refused(&world, &mut request).await, "BS-JOIN-013", "nor would the master let it");
}

#[tokio::test]
async fn a_strangers_certificate_requests_are_not_signed() {
    let world = World::new().await;
    let honest = honest_csrs();
    let admin = csr("system:admin", Some("system:masters"));
    let cases = [
        JoinCsrs { kubelet: admin.clone(), ..honest.clone() },
        JoinCsrs { kube_proxy: admin.clone(), ..honest.clone() },
        JoinCsrs { agent: admin, ..honest.clone() },
        JoinCsrs { kubelet: csr("system:node:master-01", Some("system:nodes")), ..honest.clone() },
        JoinCsrs { agent: csr("blackstart:agent:worker-02", Some("blackstart:agents")), ..honest.clone() },
        JoinCsrs { kubelet: honest.agent.clone(), ..honest.clone() },
        JoinCsrs { kubelet: String::new(), ..honest.clone() },
    ];
    for csrs in cases {
        let mut request = request(&world, &csrs).await;
        assert_eq!(refused(&world, &mut request).await, "BS-JOIN-008");
    }
    assert_eq!(world.signed(), 0, "not even the honest ones among them");
}

#[tokio::test]
async fn what_is_changed_on_the_way_is_refused() {
    let world = World::new().await;
    let mut request = request(&world, &honest_csrs()).await;
    request.prove(world.secret("worker-01").bytes().expose_secret());
    request.csrs.agent = csr("blackstart:agent:worker-01", Some("blackstart:agents"));
    assert_eq!(post(&world, &request).await, Err("BS-JOIN-002".to_owned()));
    assert_eq!(world.signed(), 0);
}

fn csr(name: &str, group: Option<&str>) -> String {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    if let Some(group) = group {
        params.distinguished_name.push(DnType::OrganizationName, group);
    }
    params.serialize_request(&KeyPair::generate().unwrap()).unwrap().pem().unwrap()
}

pub(crate) fn honest_csrs() -> JoinCsrs {
    JoinCsrs {
        kubelet: csr("system:node:worker-01", Some("system:nodes")),
        kube_proxy: csr("system:kube-proxy", None),
        agent: csr("blackstart:agent:worker-01", Some("blackstart:agents")),
    }
}

/// A request of worker-01 with a fresh challenge, not proved yet.
pub(crate) async fn request(world: &World, csrs: &JoinCsrs) -> JoinRequest {
    let (_, Hello { challenge, .. }) = world.client().hello(None).await.unwrap();
    JoinRequest {
        cluster: "home".into(),
        node: "worker-01".into(),
        role: ClaimedRole::Worker,
        credential: world.secret("worker-01").claimed(),
        challenge,
        csrs: csrs.clone(),
        machine_id: None,
        proof: String::new(),
    }
}

async fn refused(world: &World, request: &mut JoinRequest) -> String {
    request.prove(world.secret("worker-01").bytes().expose_secret());
    let code = post(world, request).await.unwrap_err();
    assert!(world.all_logged().contains(&code), "the same code in the journal");
    code
}

/// Sends a request as it is; the code, if it is refused.
pub(crate) async fn post(world: &World, request: &JoinRequest) -> Result<(), String> {
    let http = tls::client(&world.ca_pem, None).unwrap();
    let answer = http.post(format!("https://{}/v1/join", world.address)).json(request).send().await.unwrap();
    if answer.status().is_success() { Ok(()) } else { Err(answer.json::<Refused>().await.unwrap().diagnostic.code) }
}
