use std::collections::BTreeSet;

use operations::node_snapshot::NodeSnapshot;

use super::*;
use crate::{
    NodeUpgradeSpec, Phase,
    controller::{
        precondition::SeenNode,
        secret,
        testing::{Server, controller},
    },
    next::{NodeSeen, SecretSeen, Seen, SlotSeen},
};

/// What is decided from is of no account here.
async fn observe(client: &kubeapi::Client) -> Observed {
    let seen = Seen {
        now: jiff::Timestamp::UNIX_EPOCH,
        node: Some(NodeSeen::default()),
        secret: SecretSeen::Missing("ipb-w1".into()),
        secret_uid: None,
        slot: SlotSeen::Held,
        others: None,
        no_progress: None,
        report: None,
        leaving: crate::next::Leaving::default(),
        not_ready_pods: BTreeSet::new(),
        commits: false,
    };
    let node = SeenNode::observe(client, "w1").await.unwrap();
    Observed { seen, node, secret: secret::read(client, "ipb-w1").await.unwrap(), is_master: false }
}

fn object() -> NodeUpgrade {
    let mut object = NodeUpgrade::new("w1", NodeUpgradeSpec::default());
    object.metadata.uid = Some("u".into());
    object.metadata.resource_version = Some("7".into());
    object.status.phase = Phase::Restoring;
    object.status.run = Some("u-1-1".into());
    object.status.snapshot =
        Some(NodeSnapshot { labels: [("disk".to_owned(), "fast".to_owned())].into(), ..NodeSnapshot::default() });
    object
}

const GIVE_BACK: [Effect; 3] = [Effect::RemoveOrder, Effect::RemoveLabel, Effect::Restore];

/// Another controller had decided to take the node away, and was stopped until all was over.
#[tokio::test]
async fn what_was_decided_before_a_node_was_given_back_does_not_land_after_it() {
    let server = Server::default();
    let client = server.serve().await;
    let (mut leads, mut stopped) = (controller(&client), controller(&client));
    let mut old = observe(&client).await;
    let mut new = observe(&client).await;
    for effect in GIVE_BACK {
        assert_eq!(leads.affect(&object(), &mut new, effect).await.unwrap(), Went::On, "{effect:?}");
    }
    let given_back = server.with(|held| held.node.clone());
    assert_eq!(given_back["metadata"]["annotations"], json!({ names::ENDED_ANNOTATION: "u-1-1" }));
    assert_eq!(given_back["metadata"]["labels"], json!({ "disk": "fast" }));
    for effect in [Effect::Cordon, Effect::Label, Effect::RemoveLabel, Effect::Restore, Effect::RemoveOrder] {
        assert_eq!(stopped.affect(&object(), &mut old, effect).await.unwrap(), Went::Stop, "{effect:?}");
    }
    assert_eq!(server.with(|held| held.node.clone()), given_back);
}

#[tokio::test]
async fn a_node_that_changes_between_two_effects_is_decided_on_again() {
    let server = Server::default();
    let client = server.serve().await;
    let mut leads = controller(&client);
    let mut seen = observe(&client).await;
    assert_eq!(leads.affect(&object(), &mut seen, Effect::Cordon).await.unwrap(), Went::On);
    server.with(|held| held.interferes = Some(json!({ "metadata": { "labels": { "of": "others" } } })));
    assert_eq!(leads.affect(&object(), &mut seen, Effect::Label).await.unwrap(), Went::Stop);
    assert_eq!(server.with(|held| held.node["metadata"]["labels"].clone()), json!({ "of": "others" }));
}

/// What an old object says is not done to a Node of the next run.
#[tokio::test]
async fn an_object_that_changed_while_its_node_was_observed_is_observed_again() {
    let server = Server::default();
    let client = server.serve().await;
    let mut leads = controller(&client);
    let metadata = |version: &str| {
        json!({ "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
                "metadata": { "name": "w1", "uid": "u", "resourceVersion": version } })
    };
    for (now, phase, is_seen) in [
        (metadata("7"), Phase::Restoring, true),
        (metadata("8"), Phase::Restoring, false),
        (Value::Null, Phase::Restoring, false),
        (metadata("8"), Phase::Refused, true),
    ] {
        server.with(|held| held.object = now.clone());
        let mut object = object();
        object.status.phase = phase;
        assert_eq!(leads.observe(&object).await.unwrap().is_some(), is_seen, "{now} {phase}");
    }
}
