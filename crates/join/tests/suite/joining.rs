//! Nodes that may join do, and what they get works.

use std::sync::Arc;

use explain::Explain;
use join::{
    Applicant, Client, Credential, JoinKey, Joined, Member, Pair, Trust, Whose,
    server::Setup,
    wire::{KnownNode, Nodes},
};
use secrecy::ExposeSecret;

use crate::world::{CLUSTER, Held, WORKER_01, WORKER_02, World, cluster};

fn subject(pair: &Pair) -> String {
    let pem = x509_parser::pem::Pem::iter_from_buffer(pair.cert_pem.as_bytes()).next().unwrap().unwrap();
    let certificate = pem.parse_x509().unwrap();
    let usage = certificate.extended_key_usage().unwrap().unwrap().value.clone();
    assert!(usage.client_auth && !usage.server_auth && !certificate.is_ca());
    assert!(certificate.subject_alternative_name().unwrap().is_none());
    // A pair that does not belong together would not become a client.
    tls::client(&pair.cert_pem, Some((&pair.cert_pem, pair.key_pem.expose_secret()))).unwrap();
    certificate.subject().to_string()
}

fn member(world: &World, pair: &Pair) -> Member {
    Member::new(vec![world.address], &world.ca_pem, (&pair.cert_pem, pair.key_pem.expose_secret())).unwrap()
}

fn shown(joined: &Joined) -> [String; 3] {
    [&joined.kubelet, &joined.kube_proxy, &joined.agent].map(subject)
}

const WORKER_01_SUBJECTS: [&str; 3] = [
    "O=system:nodes, CN=system:node:worker-01",
    "CN=system:kube-proxy",
    "O=blackstart:agents, CN=blackstart:agent:worker-01",
];

#[tokio::test]
async fn a_sealed_worker_gets_what_it_needs() {
    let world = World::new().await;
    world.take_api_away(true);
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    assert_eq!(shown(&joined), WORKER_01_SUBJECTS, "a node's own secret needs no API");
    assert_eq!(joined.ca_pem, world.ca_pem);
    assert_eq!(joined.api_servers, ["192.168.1.11:6443".parse().unwrap()]);
    assert_eq!(world.signed(), 3);
    assert!(world.journal().contains("a node was let in"));

    let again = world.client().join(&world.applicant("worker-01")).await.unwrap();
    assert_eq!(shown(&again), WORKER_01_SUBJECTS, "the same machine may join again, after a reset for example");
}

#[tokio::test]
async fn a_token_is_enough_to_learn_the_ca_and_join() {
    let world = World::new().await;
    for node in [None, Some("worker-01")] {
        let token = world.new_token(None, node);
        let client = Client::new(vec![world.address], Trust::Token(token.clone()));
        let applicant = Applicant { credential: Credential::Token(token), ..world.applicant("worker-01") };
        let joined = client.join(&applicant).await.unwrap();
        assert_eq!(shown(&joined), WORKER_01_SUBJECTS);
        assert_eq!(joined.ca_pem, world.ca_pem);
    }
}

#[tokio::test]
async fn hello_shows_who_is_there_and_insiders_who_has_the_machine() {
    let world = World::new().await;
    let id = join::machine_id("some machine");
    world.know_machine(&id, "worker-02");
    let (certificate, key) = world.admin.clone();
    let (_, hello) = world.client().showing(certificate, key.into()).hello(Some(&id)).await.unwrap();
    assert_eq!((hello.cluster.as_str(), hello.master.as_str(), hello.ready), ("home", "master-01", true));
    assert_eq!(hello.machine.as_deref(), Some("worker-02"));
    let (_, hello) = world.client().hello(Some(&id)).await.unwrap();
    assert_eq!((hello.ready, hello.machine, hello.own_machine), (true, None, None), "not a stranger");
}

#[tokio::test]
async fn a_member_renews_and_reports() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let agent = member(&world, &joined.agent);
    let renewed = agent.renew("worker-01", Whose::Ours, None).await.unwrap();
    assert_eq!([&renewed.kube_proxy, &renewed.agent].map(subject), WORKER_01_SUBJECTS[1..]);
    assert_ne!(renewed.agent.cert_pem, joined.agent.cert_pem);
    assert!(renewed.kubelet.is_none(), "the kubelet looks after itself");
    let all = agent.renew("worker-01", Whose::All, None).await.unwrap();
    assert_eq!(all.kubelet.as_ref().map(subject).as_deref(), Some(WORKER_01_SUBJECTS[0]));

    let agent = member(&world, &renewed.agent);
    agent.report(&serde_json::json!({ "phase": "Joining" })).await.unwrap();
    let heard = agent.report(&serde_json::json!({ "phase": "Ready" })).await.unwrap();
    assert_eq!(heard, crate::world::heard(), "and hears what every node is to trust");
    let seen = |known: Nodes| {
        let one = |node: KnownNode| (node.node, node.report.map(|report| (report.early, report.status)));
        known.nodes.into_iter().map(one).collect::<Vec<_>>()
    };
    let expected = vec![
        ("master-01".to_owned(), None),
        ("worker-01".to_owned(), Some((false, serde_json::json!({ "phase": "Ready" })))),
        ("worker-02".to_owned(), None),
    ];
    assert_eq!(agent.nodes().await.unwrap_err().code().id, "BS-JOIN-017", "a worker need not know of the others");
    let admin = (world.admin.0.as_str(), world.admin.1.as_str());
    let admin = Member::new(vec![world.address], &world.ca_pem, admin).unwrap();
    world.come_from([198, 51, 100, 7]);
    assert_eq!(
        seen(admin.nodes().await.unwrap()),
        expected,
        "an administrator may look from anywhere; the last one counts"
    );
    world.come_from(crate::world::MASTER);
    let (certificate, key) = world.agent_of("master-01");
    let master = Member::new(vec![world.address], &world.ca_pem, (&certificate, &key)).unwrap();
    assert_eq!(seen(master.nodes().await.unwrap()), expected);
}

#[tokio::test]
async fn the_bootstrap_node_reports_and_is_no_node() {
    let ip = [192, 168, 1, 9];
    let world = World::new().await;
    let with_bootstrap = format!("{CLUSTER}  - {{ name: bootstrap, ip: 192.168.1.9, roles: [bootstrap] }}\n");
    world.described.send(Arc::new(cluster(&with_bootstrap))).unwrap();
    let (certificate, key) = world.agent_of("bootstrap");
    let own = Member::new(vec![world.address], &world.ca_pem, (&certificate, &key)).unwrap();
    world.come_from(ip);
    own.report(&serde_json::json!({ "milestones": {} })).await.unwrap();
    let known = own.nodes().await.unwrap();
    assert!(known.nodes.iter().all(|node| node.node != "bootstrap"), "what counts nodes does not meet it");
    let bootstrap = known.bootstrap.unwrap();
    let status = bootstrap.report.map(|report| report.status);
    assert_eq!((bootstrap.node.as_str(), status), ("bootstrap", Some(serde_json::json!({ "milestones": {} }))));
}

#[tokio::test]
async fn a_node_that_left_cluster_yaml_is_out() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let agent = member(&world, &joined.agent);
    agent.report(&serde_json::json!({})).await.unwrap();
    let without: Vec<&str> = CLUSTER.lines().filter(|line| !line.contains("worker-01")).collect();
    world.described.send(Arc::new(cluster(&without.join("\n")))).unwrap();
    assert_eq!(agent.renew("worker-01", Whose::Ours, None).await.unwrap_err().code().id, "BS-JOIN-005");
    assert_eq!(world.client().join(&world.applicant("worker-01")).await.unwrap_err().code().id, "BS-JOIN-005");
    let admin = (world.admin.0.as_str(), world.admin.1.as_str());
    let admin = Member::new(vec![world.address], &world.ca_pem, admin).unwrap();
    let known = admin.nodes().await.unwrap().nodes;
    let names: Vec<&str> = known.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, ["master-01", "worker-02"], "and its report is not shown any more");
}

#[tokio::test]
async fn a_certificate_is_good_for_its_own_node_only() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let signed = world.signed();
    let agent = member(&world, &joined.agent);
    let kubelet = member(&world, &joined.kubelet);
    let stranger = Client::new(vec![world.address], Trust::Ca(world.ca_pem.clone()));
    let admin = (world.admin.0.as_str(), world.admin.1.as_str());
    let admin = Member::new(vec![world.address], &world.ca_pem, admin).unwrap();
    let code = |outcome: Result<(), join::JoinError>| outcome.unwrap_err().code().id;
    let status = serde_json::json!({});

    assert_eq!(
        code(agent.renew("worker-02", Whose::Ours, None).await.map(drop)),
        "BS-JOIN-008",
        "another node's certificate"
    );
    assert_eq!(
        code(kubelet.renew("worker-01", Whose::Ours, None).await.map(drop)),
        "BS-JOIN-017",
        "the kubelet is no agent"
    );
    assert_eq!(code(kubelet.report(&status).await.map(drop)), "BS-JOIN-017");
    assert_eq!(code(kubelet.nodes().await.map(drop)), "BS-JOIN-017");
    assert_eq!(code(admin.report(&status).await.map(drop)), "BS-JOIN-017", "an administrator has no node");
    world.come_from(WORKER_02);
    assert_eq!(code(agent.report(&status).await.map(drop)), "BS-JOIN-007", "a copied certificate");
    world.come_from(WORKER_01);
    assert!(stranger.hello(None).await.is_ok());
    assert_eq!(world.signed(), signed, "nothing was signed");
}

/// While the join key is replaced, secrets of either key let a node in, and it gets one of the new key.
#[tokio::test]
async fn a_join_key_is_replaced_without_anybody_being_left_behind() {
    let world = World::new().await;
    let (old, new) = (world.held().join_key.unwrap(), JoinKey::generate().unwrap());
    let applicant = |key: &JoinKey| {
        let credential =
            Credential::NodeSecret(key.node_secret("worker-01", world.secret("worker-01").generation, None));
        Applicant { credential, ..world.applicant("worker-01") }
    };
    for (stage, current, previous, expected) in [
        ("before", &old, None, [true, false]),
        ("trust", &old, Some(&new), [true, true]),
        ("sign", &new, Some(&old), [true, true]),
        ("drop", &new, None, [false, true]),
    ] {
        let (join_key, previous_join_key) = (Some(current.clone()), previous.cloned());
        let held = Held { join_key, previous_join_key, ..world.held() };
        let address = world.serve(Setup { key_store: Arc::new(held), ..world.setup() }).await;
        let client = Client::new(vec![address], Trust::Ca(world.ca_pem.clone()));
        let mut got_in = [false; 2];
        for (got_in, key) in got_in.iter_mut().zip([&old, &new]) {
            *got_in = client.join(&applicant(key)).await.is_ok();
        }
        assert_eq!(got_in, expected, "{stage}");
        let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
        let shown = (joined.agent.cert_pem.as_str(), joined.agent.key_pem.expose_secret());
        let agent = Member::new(vec![address], &world.ca_pem, shown).unwrap();
        let held = old.node_secret("worker-01", world.secret("worker-01").generation, None);
        let renewed = agent.renew("worker-01", Whose::Ours, Some(&held)).await.unwrap().secret;
        let is_current = renewed.is_some_and(|(secret, of)| current.made(&secret) && of == current.mark());
        assert_eq!(is_current, stage != "drop", "{stage}: a node that has nothing good gets nothing");
    }
}
