//! Masters get the cluster's keys, no other node does, and nodes go to a master that can let them in.

use std::{sync::Arc, time::Duration};

use explain::Explain;
use join::{Applicant, Claim, Client, Credential, Trust, server::Setup, wire::ClusterState};

use crate::world::{Held, WORKER_01, World};

const MASTER_01: [u8; 4] = [192, 168, 1, 11];

fn with(world: &World, node: &str, credential: Credential) -> Applicant {
    Applicant { credential, ..world.applicant(node) }
}

#[tokio::test]
async fn a_master_gets_the_clusters_keys_with_a_secret_of_its_own() {
    let world = World::new().await;
    world.come_from(MASTER_01);
    let bound = world.new_token(None, Some("master-01"));
    let claim = Claim::generate().unwrap();
    for applicant in [world.applicant("master-01"), with(&world, "master-01", Credential::Token(bound))] {
        let (_, keys) = world.client().master_keys(&applicant, &claim).await.unwrap();
        assert_eq!(keys.files["pki/ca.key"], "the key, for master-01");
        assert_eq!(format!("{keys:?}"), "MasterKeys { .. }");
        let journal = world.journal();
        assert!(journal.contains("given the cluster's keys") && !journal.contains("the key"), "{journal}");
    }
}

#[tokio::test]
async fn no_other_node_gets_them() {
    let world = World::new().await;
    let shared = world.new_token(None, None);
    let foreign = Credential::NodeSecret(world.secret("worker-01"));
    let cases = [
        ("a worker", WORKER_01, world.applicant("worker-01"), "BS-JOIN-006"),
        ("a worker that says it is a master", MASTER_01, with(&world, "master-01", foreign), "BS-JOIN-004"),
        (
            "a master with a token for all",
            MASTER_01,
            with(&world, "master-01", Credential::Token(shared)),
            "BS-JOIN-033",
        ),
        ("a master from elsewhere", WORKER_01, world.applicant("master-01"), "BS-JOIN-007"),
    ];
    for (who, address, applicant, expected) in cases {
        world.come_from(address);
        let refused = world.client().master_keys(&applicant, &Claim::generate().unwrap()).await.unwrap_err();
        assert_eq!(refused.code().id, expected, "{who}: {refused}");
        assert!(world.journal().contains(expected), "{who}");
    }
}

#[tokio::test]
async fn nodes_go_to_a_master_that_can_let_them_in() {
    let world = World::new().await;
    let apart = Held { cluster_state: ClusterState::Apart, admits: false, join_key: None, previous_join_key: None };
    let waiting = world.serve(Setup { key_store: Arc::new(apart), ..world.setup() }).await;
    let gone = "127.0.0.1:1".parse().unwrap();
    let client = Client::new(vec![gone, waiting, world.address], Trust::Ca(world.ca_pem.clone()));
    let (master, hello) = client.hello(None).await.unwrap();
    assert_eq!((master, hello.admits), (world.address, true));
    assert_eq!(client.join(&world.applicant("worker-01")).await.unwrap().master, world.address);

    let early = Client::new(vec![gone, waiting], Trust::Ca(world.ca_pem.clone()));
    let (master, hello) = early.hello(None).await.unwrap();
    assert!(master == waiting && !hello.admits);
    let refused = early.join(&world.applicant("worker-01")).await.unwrap_err();
    assert!(refused.code().id == "BS-JOIN-016" && refused.is_retryable(), "{refused}");
}

/// What each of three masters says to a client: gone, apart, member.
async fn reported(world: &World, shows: Option<(String, String)>) -> [Option<(ClusterState, bool)>; 3] {
    let apart = Held { cluster_state: ClusterState::Apart, admits: false, join_key: None, previous_join_key: None };
    let waiting = world.serve(Setup { key_store: Arc::new(apart), ..world.setup() }).await;
    let gone = "127.0.0.1:1".parse().unwrap();
    let client = Client::new(vec![gone, waiting, world.address], Trust::Ca(world.ca_pem.clone()));
    let client = match shows {
        Some((certificate, key)) => client.showing(certificate, key.into()),
        None => client,
    };
    let survey = client.survey(Duration::from_secs(5)).await;
    let cluster_state = |output: &Result<join::wire::Hello, _>| {
        let hello = output.as_ref().ok()?;
        Some((hello.cluster_state?, hello.own_machine.is_some()))
    };
    [0, 1, 2].map(|index: usize| cluster_state(&survey[index].1))
}

#[tokio::test]
async fn how_masters_stand_is_shown_to_masters_and_administrators() {
    let world = World::new().await;
    let sealed = std::fs::read_to_string(world.sealed.path().join("master-01/serving.pem")).unwrap();
    let (certificate, key) = join::seal::split(&sealed).unwrap();
    let all = [None, Some((ClusterState::Apart, true)), Some((ClusterState::Member, true))];
    let nothing = [None, None, None];
    let serving = (certificate, secrecy::ExposeSecret::expose_secret(&key).to_owned());
    for (who, address, shows, expected) in [
        ("a stranger", MASTER_01, None, nothing),
        ("a worker", WORKER_01, Some(world.agent_of("worker-01")), nothing),
        ("a master that has joined", MASTER_01, Some(world.agent_of("master-01")), all),
        ("a master that has not", MASTER_01, Some(serving.clone()), all),
        ("its certificate from elsewhere", WORKER_01, Some(serving), nothing),
        ("an administrator", WORKER_01, Some(world.admin.clone()), all),
    ] {
        world.come_from(address);
        assert_eq!(reported(&world, shows).await, expected, "{who}");
    }
}

#[tokio::test]
async fn what_workers_say_of_their_machine_keeps_no_master_out() {
    let world = World::new().await;
    let own = join::machine_id("master-01");
    let liar = Applicant { machine_id: Some(own.clone()), ..world.applicant("worker-01") };
    let refused = world.client().join(&liar).await.unwrap_err();
    assert_eq!(refused.code().id, "BS-JOIN-010", "a worker cannot be this master's machine: {refused}");
    world.know_machine(&own, "worker-01");
    world.come_from(MASTER_01);
    world.client().master_keys(&world.applicant("master-01"), &Claim::generate().unwrap()).await.unwrap();
}
