//! A request counts once, from wherever it is repeated and however fast.

use futures::future::join_all;
use secrecy::ExposeSecret;

use crate::{
    refusals::{honest_csrs, post, request},
    world::{WORKER_01, WORKER_02, World},
};

#[tokio::test]
async fn a_repeated_request_is_refused() {
    let world = World::new().await;
    let mut recorded = request(&world, &honest_csrs()).await;
    recorded.prove(world.secret("worker-01").bytes().expose_secret());
    assert_eq!(post(&world, &recorded).await, Ok(()));
    assert_eq!(world.signed(), 3);
    assert_eq!(post(&world, &recorded).await, Err("BS-JOIN-009".to_owned()));
    world.come_from(WORKER_02);
    assert_eq!(post(&world, &recorded).await, Err("BS-JOIN-007".to_owned()), "from another address");
    world.come_from(WORKER_01);
    world.shift_clock(61);
    assert_eq!(post(&world, &recorded).await, Err("BS-JOIN-009".to_owned()), "when it is no longer remembered");
    assert_eq!(world.signed(), 3, "nothing more was signed");
}

#[tokio::test]
async fn of_many_at_the_same_moment_one_succeeds() {
    let world = World::new().await;
    let mut recorded = request(&world, &honest_csrs()).await;
    recorded.prove(world.secret("worker-01").bytes().expose_secret());
    let outcomes = join_all((0..8).map(|_| post(&world, &recorded))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    assert_eq!(world.signed(), 3);
}

#[tokio::test]
async fn a_challenge_of_the_past_or_that_was_never_made_is_refused() {
    let world = World::new().await;
    let secret = world.secret("worker-01");
    for (challenge, shift) in [(None, 61), (None, -61), (Some("AAAA"), 0), (Some(""), 0)] {
        world.shift_clock(0);
        let mut late = request(&world, &honest_csrs()).await;
        late.challenge = challenge.map_or(late.challenge, str::to_owned);
        late.prove(secret.bytes().expose_secret());
        world.shift_clock(shift);
        assert_eq!(post(&world, &late).await, Err("BS-JOIN-009".to_owned()), "{challenge:?} {shift}");
    }
    assert_eq!(world.signed(), 0);
}

#[tokio::test]
async fn requests_that_cross_each_other_do_not_mix() {
    let world = World::new().await;
    let client = world.client();
    let first = world.applicant("worker-01");
    let joined = join_all((0..6).map(|_| client.join(&first))).await;
    let mut agents: Vec<String> = joined.into_iter().map(|one| one.unwrap().agent.cert_pem).collect();
    agents.sort();
    agents.dedup();
    assert_eq!(agents.len(), 6, "each got the certificate of its own key");
}
