//! Copies of what a node holds: of no use once they are old, revoked, or another node's.

use explain::Explain;
use jiff::{SignedDuration, Timestamp};
use join::{Applicant, Claim, Credential, JoinError, Joined, Member, Whose};
use secrecy::ExposeSecret;
use serde_json::json;

use crate::world::{MASTER, WORKER_01, World};

fn with(world: &World, later: u32) -> Applicant {
    let credential = Credential::NodeSecret(world.later_secret("worker-01", later, None));
    Applicant { credential, ..world.applicant("worker-01") }
}

fn code<T>(outcome: &Result<T, JoinError>) -> &'static str {
    outcome.as_ref().map_or_else(|error| error.code().id, |_| "granted")
}

fn agent(world: &World, joined: &Joined) -> Member {
    let pair = (joined.agent.cert_pem.as_str(), joined.agent.key_pem.expose_secret());
    Member::new(vec![world.address], &world.ca_pem, pair).unwrap()
}

#[tokio::test]
async fn a_newer_secret_makes_the_older_one_worthless_once_it_is_used() {
    let world = World::new().await;
    let join = async |later| world.client().join(&with(&world, later)).await;
    assert_eq!(code(&join(0).await), "granted");
    assert_eq!(code(&join(10).await), "granted");
    let signed = world.signed();
    let refused = join(0).await.unwrap_err();
    let reported = world.secret("worker-01").generation;
    assert_eq!(refused.code().id, "BS-JOIN-060");
    let text = refused.to_string();
    assert!(text.contains(&reported.0.to_string()) && text.contains(&(reported.0 + 10).to_string()), "{text}");
    assert!(refused.advice().contains("blackstart config seal --renew worker-01"), "{}", refused.advice());
    world.take_api_away(true);
    assert_eq!(code(&join(9).await), "BS-JOIN-060", "also while the API is away");
    let report = world.client().report(&with(&world, 0), &json!({})).await;
    assert_eq!(code(&report), "BS-JOIN-060", "nor is its holder heard");
    assert_eq!(world.signed(), signed);
    assert_eq!(code(&join(10).await), "granted", "the same one may be used again");
}

#[tokio::test]
async fn who_is_revoked_is_out_until_it_is_sealed_again() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let member = agent(&world, &joined);
    member.report(&json!({})).await.unwrap();
    let later = Timestamp::now() + SignedDuration::from_secs(100);
    world.record("worker-01", |admission| admission.revoked(later, true));
    let refused = world.client().join(&world.applicant("worker-01")).await;
    assert_eq!(code(&refused), "BS-JOIN-060");
    assert_eq!(code(&member.report(&json!({})).await), "BS-JOIN-063");
    assert_eq!(code(&member.renew("worker-01", Whose::Ours, None).await), "BS-JOIN-063");
    assert_eq!(code(&member.leave().await), "BS-JOIN-063");

    world.shift_clock(200);
    let again = world.client().join(&with(&world, 300)).await.unwrap();
    agent(&world, &again).report(&json!({})).await.unwrap();
    assert_eq!(code(&member.report(&json!({})).await), "BS-JOIN-063", "the old certificate stays out");
}

#[tokio::test]
async fn a_living_member_may_lose_its_secrets_only() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let later = Timestamp::now() + SignedDuration::from_secs(100);
    world.record("worker-01", |admission| admission.revoked(later, false));
    assert_eq!(code(&world.client().join(&world.applicant("worker-01")).await), "BS-JOIN-060");
    let member = agent(&world, &joined);
    member.report(&json!({})).await.unwrap();
    let present = world.secret("worker-01");
    let renewed = member.renew("worker-01", Whose::Ours, Some(&present)).await.unwrap();
    let credential = Credential::NodeSecret(renewed.secret.unwrap().0);
    let applicant = Applicant { credential, ..world.applicant("worker-01") };
    assert_eq!(code(&world.client().join(&applicant).await), "granted", "it was given one that is good");
}

#[tokio::test]
async fn a_member_is_given_another_secret_before_its_own_ends() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let member = agent(&world, &joined);
    let end = Timestamp::now() + SignedDuration::from_hours(24);
    let present = world.later_secret("worker-01", 1, Some(end));
    world.shift_clock(24 * 3600 - 60);
    let renewed = member.renew("worker-01", Whose::Ours, Some(&present)).await.unwrap();
    let (next, _) = renewed.secret.unwrap();
    assert!(next.generation > present.generation && next.expires > present.expires);
    world.shift_clock(25 * 3600);
    let with = |secret| Applicant { credential: Credential::NodeSecret(secret), ..world.applicant("worker-01") };
    assert_eq!(code(&world.client().join(&with(present)).await), "BS-JOIN-003");
    assert_eq!(code(&world.client().join(&with(next)).await), "granted");

    let others = world.secret("worker-02");
    let renewed = member.renew("worker-01", Whose::Ours, Some(&others)).await.unwrap();
    assert!(renewed.secret.is_none(), "another node's secret is followed by none");
}

#[tokio::test]
async fn the_clusters_keys_go_to_one_machine_per_arming() {
    let world = World::new().await;
    world.come_from(MASTER);
    let [first, second] = [(), ()].map(|()| Claim::generate().unwrap());
    let machine = |name: &str| Applicant { machine_id: Some(join::machine_id(name)), ..world.applicant("master-01") };
    let ask = async |name: &str, claim| world.client().master_keys(&machine(name), claim).await;
    assert_eq!(code(&ask("one", &first).await), "granted");
    assert_eq!(code(&ask("one", &first).await), "granted", "a crash before they were written");
    world.take_api_away(true);
    let refused = ask("two", &second).await.unwrap_err();
    assert_eq!((refused.code().id, refused.is_retryable()), ("BS-JOIN-061", true));
    assert!(refused.to_string().contains(&join::machine_id("one")[..12]), "{refused}");
    assert!(refused.advice().contains("blackstart node rearm master-01"), "{}", refused.advice());
    assert!(world.journal().contains("BS-JOIN-061"));

    world.record("master-01", |admission| admission.rearmed(Timestamp::now()));
    assert_eq!(code(&ask("two", &second).await), "granted");
    assert_eq!(code(&ask("one", &first).await), "BS-JOIN-061", "once");
}

#[tokio::test]
async fn a_living_node_is_not_taken_over() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let member = agent(&world, &joined);
    let own = json!({ "machine": join::machine_id("worker-01") });
    world.know_node("worker-01", "worker-01", None);
    member.report(&own).await.unwrap();
    let copy = Applicant { machine_id: Some(join::machine_id("copy")), ..world.applicant("worker-01") };
    let refused = world.client().join(&copy).await.unwrap_err();
    assert_eq!((refused.code().id, refused.is_retryable()), ("BS-JOIN-062", true));
    for machine in ["worker-01", "copy"] {
        assert!(refused.to_string().contains(&join::machine_id(machine)[..12]), "{refused}");
    }
    let silent = Applicant { machine_id: None, ..copy.clone() };
    assert_eq!(code(&world.client().join(&silent).await), "BS-JOIN-062", "nor by one that gives no machine-id");
    assert_eq!(code(&world.client().join(&world.applicant("worker-01")).await), "granted", "it may come back itself");

    // What the copy says before it has joined is no sign of life of the other.
    world.shift_clock(61);
    world.client().report(&copy, &own).await.unwrap();
    assert_eq!(code(&world.client().join(&copy).await), "granted", "it has not been heard for a minute");

    world.know_node("worker-01", "worker-01", Some(Timestamp::UNIX_EPOCH));
    assert_eq!(code(&world.client().join(&copy).await), "BS-JOIN-062", "its kubelet says that all is well");
    world.come_from(WORKER_01);
    member.report(&own).await.unwrap();
    world.forget_node("worker-01");
    assert_eq!(code(&world.client().join(&copy).await), "granted", "it was removed from the cluster");
}
