//! A node that leaves takes no other with it.

use explain::Explain;
use join::{Member, Pair};
use secrecy::ExposeSecret;

use crate::world::{WORKER_02, World};

pub(crate) fn member(world: &World, pair: &Pair) -> Member {
    Member::new(vec![world.address], &world.ca_pem, (&pair.cert_pem, pair.key_pem.expose_secret())).unwrap()
}

#[tokio::test]
async fn a_node_removes_itself_and_may_say_so_twice() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let agent = member(&world, &joined.agent);
    agent.leave().await.unwrap();
    agent.leave().await.unwrap();
    assert_eq!(world.left(), ["worker-01", "worker-01"], "only ever itself: the request has no name");
}

#[tokio::test]
async fn no_other_node_can_make_it_leave() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let admin = Member::new(vec![world.address], &world.ca_pem, (&world.admin.0, &world.admin.1)).unwrap();
    for (who, member) in [("its kubelet", member(&world, &joined.kubelet)), ("an administrator", admin)] {
        assert_eq!(member.leave().await.unwrap_err().code().id, "BS-JOIN-017", "{who}");
    }
    world.come_from(WORKER_02);
    let stolen = member(&world, &joined.agent).leave().await.unwrap_err();
    assert_eq!(stolen.code().id, "BS-JOIN-007", "its certificate from another machine: {stolen}");
    assert!(world.left().is_empty());
}

#[tokio::test]
async fn while_the_api_is_away_nothing_is_promised() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    world.take_api_away(true);
    let error = member(&world, &joined.agent).leave().await.unwrap_err();
    assert_eq!((error.code().id, error.is_retryable()), ("BS-JOIN-012", true), "{error}");
    assert!(world.left().is_empty());
}

#[tokio::test]
async fn what_others_have_set_on_a_node_is_not_shed_by_leaving() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    world.set_on_nodes(&["it is cordoned", "the taint dedicated=db:NoSchedule"]);
    let error = member(&world, &joined.agent).leave().await.unwrap_err();
    assert_eq!((error.code().id, error.is_retryable()), ("BS-JOIN-042", false));
    let reported = error.to_string().replace(&world.address.to_string(), "ADDRESS");
    insta::assert_snapshot!(format!("{reported}\n{}", error.advice()));
    assert!(world.left().is_empty());
}
