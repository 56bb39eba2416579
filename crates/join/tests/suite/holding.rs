//! Only masters hold each other's writes back, and give each other what opens new keys.

use explain::Explain;
use join::{Member, Pair};
use secrecy::ExposeSecret;

use crate::world::{MASTER, World};

fn member(world: &World, certificate: &str, key: &str) -> Member {
    Member::new(vec![world.address], &world.ca_pem, (certificate, key)).unwrap()
}

#[tokio::test]
async fn a_master_asks_and_lets_go() {
    let world = World::new().await;
    let (certificate, key) = world.agent_of("master-01");
    world.come_from(MASTER);
    let master = member(&world, &certificate, &key);
    master.hold(true).await.unwrap();
    master.hold(false).await.unwrap();
    assert_eq!(world.held_back(), [true, false]);
    assert_eq!(master.rotation_key().await.unwrap().as_deref(), Some("the second lock"));
}

#[tokio::test]
async fn no_other_node_may() {
    let world = World::new().await;
    let joined = world.client().join(&world.applicant("worker-01")).await.unwrap();
    let pair = |pair: &Pair| member(&world, &pair.cert_pem, pair.key_pem.expose_secret());
    let admin = member(&world, &world.admin.0, &world.admin.1);
    for (who, member) in
        [("a worker", pair(&joined.agent)), ("its kubelet", pair(&joined.kubelet)), ("an administrator", admin)]
    {
        assert_eq!(member.hold(true).await.unwrap_err().code().id, "BS-JOIN-017", "{who}");
        assert_eq!(member.rotation_key().await.unwrap_err().code().id, "BS-JOIN-017", "{who}");
    }
    let (certificate, key) = world.agent_of("master-01");
    let stolen = member(&world, &certificate, &key).hold(true).await.unwrap_err();
    assert_eq!(stolen.code().id, "BS-JOIN-007", "its certificate from another machine: {stolen}");
    let stolen = member(&world, &certificate, &key).rotation_key().await.unwrap_err();
    assert_eq!(stolen.code().id, "BS-JOIN-007", "a copy of a master does not get at new keys: {stolen}");
    assert!(world.held_back().is_empty());
}
