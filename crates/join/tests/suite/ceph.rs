//! Nodes of Ceph get what their roles need of its keys, no other node gets any.

use ceph::Entity;
use explain::Explain;
use join::{Applicant, Credential};

use crate::world::{CLUSTER, WORKER_01, World};

const STORAGE_01: [u8; 4] = [192, 168, 1, 31];
const STORAGE_02: [u8; 4] = [192, 168, 1, 32];

const STORAGE: &str = r#"  - { name: storage-01, ip: 192.168.1.31, roles: [ceph-mon, ceph-mgr], hardware: { mac_addresses: ["52:54:00:00:00:31"] } }
  - { name: storage-02, ip: 192.168.1.32, roles: [ceph-mgr], hardware: { mac_addresses: ["52:54:00:00:00:32"] } }
"#;

async fn world() -> World {
    World::of(&format!("{CLUSTER}{STORAGE}")).await
}

#[tokio::test]
async fn each_node_gets_what_its_roles_need() {
    let world = world().await;
    let manager = |node: &str| Entity::Mgr(node.into());
    let wanted = [Entity::Mon, Entity::Admin, Entity::BootstrapOsd, manager("storage-01"), manager("storage-02")];
    let mut clusters = Vec::new();
    for (node, address, expected) in [
        ("storage-01", STORAGE_01, [true, true, true, true, true]),
        ("storage-02", STORAGE_02, [false, false, false, false, true]),
    ] {
        world.come_from(address);
        let (_, handed) = world.client().ceph_keys(&world.applicant(node), false).await.unwrap();
        let held = wanted.each_ref().map(|entity| handed.key(entity).is_some());
        assert_eq!(held, expected, "{node}");
        let journal = world.journal();
        assert!(journal.contains("given its keys of Ceph"), "{journal}");
        for key in wanted.iter().filter_map(|entity| handed.key(entity)) {
            assert!(!journal.contains(key.expose()), "{journal}");
        }
        clusters.push(handed.fsid);
    }
    assert_eq!(clusters[0], clusters[1], "the first who asked has made it");
}

#[tokio::test]
async fn a_monitor_reports_that_there_is_a_quorum_and_no_other_node_does() {
    let world = world().await;
    for (node, address, reports, expected) in [
        ("storage-02", STORAGE_02, true, false),
        ("storage-01", STORAGE_01, false, false),
        ("storage-01", STORAGE_01, true, true),
        ("storage-02", STORAGE_02, false, true),
    ] {
        world.come_from(address);
        let (_, handed) = world.client().ceph_keys(&world.applicant(node), reports).await.unwrap();
        assert_eq!(handed.is_initialized, expected, "{node} {reports}");
    }
}

#[tokio::test]
async fn no_other_node_gets_any() {
    let world = world().await;
    let shared = world.new_token(None, None);
    let with = |node: &str, credential: Credential| Applicant { credential, ..world.applicant(node) };
    let foreign = Credential::NodeSecret(world.secret("worker-01"));
    for (who, address, applicant, expected) in [
        ("a node without a role", WORKER_01, world.applicant("worker-01"), "BS-JOIN-035"),
        ("a node that says it is another", STORAGE_01, with("storage-01", foreign), "BS-JOIN-004"),
        ("a token for all", STORAGE_01, with("storage-01", Credential::Token(shared)), "BS-JOIN-033"),
        ("a node from elsewhere", STORAGE_02, world.applicant("storage-01"), "BS-JOIN-007"),
    ] {
        world.come_from(address);
        let refused = world.client().ceph_keys(&applicant, false).await.unwrap_err();
        assert_eq!(refused.code().id, expected, "{who}: {refused}");
        assert!(world.journal().contains(expected), "{who}");
    }
}

#[tokio::test]
async fn without_the_api_nothing_is_made_up() {
    let world = world().await;
    world.come_from(STORAGE_01);
    world.take_api_away(true);
    let refused = world.client().ceph_keys(&world.applicant("storage-01"), false).await.unwrap_err();
    assert!(refused.code().id == "BS-JOIN-018" && refused.is_retryable(), "{refused}");
}
