//! Tokens that any node may use: they bring in workers that are not there yet, and are no way to anybody's name.

use explain::Explain;
use join::{Applicant, Credential, JoinError, wire::ClaimedRole};
use spec::Token;

use crate::{
    leaving::member,
    world::{MASTER, WORKER_01, World},
};

fn applicant(world: &World, node: &str, token: &Token, machine: &str) -> Applicant {
    let machine_id = Some(join::machine_id(machine));
    Applicant { credential: Credential::Token(token.clone()), machine_id, ..world.applicant(node) }
}

fn code<T>(outcome: Result<T, JoinError>) -> &'static str {
    outcome.map_or_else(|error| error.code().id, |_| "let in")
}

#[tokio::test]
async fn no_master_comes_in_with_one() {
    let world = World::new().await;
    let token = world.new_token(None, None);
    world.come_from(MASTER);
    for role in [ClaimedRole::Master, ClaimedRole::Worker] {
        let as_master = Applicant { role, ..applicant(&world, "master-01", &token, "any") };
        let expected = if role == ClaimedRole::Master { "BS-JOIN-033" } else { "BS-JOIN-006" };
        assert_eq!(code(world.client().join(&as_master).await), expected);
        assert_eq!(
            code(world.client().master_keys(&as_master, &join::Claim::generate().unwrap()).await),
            "BS-JOIN-033"
        );
    }
    assert_eq!(world.signed(), 0);
}

#[tokio::test]
async fn a_name_that_is_taken_is_not_to_be_had() {
    let world = World::new().await;
    let token = world.new_token(None, None);
    let join = async |machine: &str| code(world.client().join(&applicant(&world, "worker-01", &token, machine)).await);
    assert_eq!(join("one").await, "let in");
    assert_eq!(join("one").await, "let in", "it was killed before it wrote its certificates");
    assert_eq!(join("another").await, "BS-JOIN-043", "another machine, before it has registered");
    world.register("worker-01");
    assert_eq!(join("one").await, "BS-JOIN-043", "it is in the cluster now");
    world.come_from(WORKER_01);
    assert_eq!(code(world.client().join(&world.applicant("worker-01")).await), "let in", "its own secret is its own");
    let bound = world.new_token(None, Some("worker-01"));
    assert_eq!(code(world.client().join(&applicant(&world, "worker-01", &bound, "new")).await), "let in");
}

#[tokio::test]
async fn a_node_that_left_may_come_again() {
    let world = World::new().await;
    let token = world.new_token(None, None);
    let joined = world.client().join(&applicant(&world, "worker-01", &token, "one")).await.unwrap();
    world.register("worker-01");
    let agent = member(&world, &joined.agent);
    agent.report(&serde_json::json!({})).await.unwrap();
    agent.leave().await.unwrap();
    agent.report(&serde_json::json!({})).await.expect("its agent is stopped a moment later");
    let again = world.client().join(&applicant(&world, "worker-01", &token, "another")).await;
    assert_eq!(code(again), "let in", "also on a new machine");
}

#[tokio::test]
async fn one_that_reports_and_has_no_node_object_bears_its_name() {
    let world = World::new().await;
    let token = world.new_token(None, None);
    let joined = world.client().join(&applicant(&world, "worker-01", &token, "one")).await.unwrap();
    let join = async |machine: &str| code(world.client().join(&applicant(&world, "worker-01", &token, machine)).await);
    world.shift_clock(3600);
    member(&world, &joined.agent).report(&serde_json::json!({})).await.unwrap();
    assert_eq!(join("another").await, "BS-JOIN-043");
    world.shift_clock(7200);
    assert_eq!(join("another").await, "let in", "it was not heard of for an hour");
}

#[tokio::test]
async fn while_the_api_is_away_it_is_unknown() {
    let world = World::new().await;
    let token = world.new_token(None, None);
    world.take_registry_away();
    let refused = world.client().join(&applicant(&world, "worker-01", &token, "one")).await.unwrap_err();
    assert_eq!((refused.code().id, refused.is_retryable()), ("BS-JOIN-012", true));
}
