use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::testing::{Scripted, agent};

fn node(name: &str, pods: &str) -> NodeObject {
    serde_json::from_value(json!({ "metadata": { "name": name }, "spec": { "podCIDRs": [pods] } })).unwrap()
}

#[test]
fn an_incomplete_list_never_replaces_the_picture() {
    let cluster = crate::testing::cluster();
    let mut picture = Picture::default();
    let mut take = |event| {
        let changed = picture.take(event, |node| peer(&cluster, node));
        (changed, picture.known.keys().cloned().collect::<Vec<_>>().join(" "))
    };
    let (one, two) = (|| node("worker-01", "10.244.21.0/24"), || node("worker-02", "10.244.22.0/24"));
    for (event, changed, known) in [
        (Event::Init, false, ""),
        (Event::InitApply(one()), false, ""),
        (Event::InitDone, true, "worker-01"),
        (Event::Apply(two()), true, "worker-01 worker-02"),
        (Event::Apply(two()), false, "worker-01 worker-02"),
        (Event::Init, false, "worker-01 worker-02"),
        (Event::InitApply(one()), false, "worker-01 worker-02"),
        (Event::Init, false, "worker-01 worker-02"),
        (Event::InitApply(two()), false, "worker-01 worker-02"),
        (Event::InitDone, true, "worker-02"),
        (Event::Delete(two()), true, ""),
        (Event::Delete(two()), false, ""),
    ] {
        let what = event.to_string();
        assert_eq!(take(event), (changed, known.to_owned()), "{what}");
    }
}

#[tokio::test]
async fn only_differences_touch_the_machine() {
    let commands = Arc::new(Scripted::default());
    let agent = agent("worker-01", &commands);
    let peers = ["worker-01", "worker-02"].into_iter().zip(["10.244.21.0/24", "10.244.22.0/24"]);
    let known = peers.map(|(name, pods)| (name.to_owned(), peer(&agent.cluster, &node(name, pods)).unwrap())).collect();
    let wanted = wanted("worker-01", &known).unwrap();

    commands.answer("ip -4 -j route show proto 176", "[]");
    commands.answer("ip -4 route replace 10.96.0.0/12 dev lo src 10.0.0.21 proto 176", "");
    commands.answer("ip -4 route replace 10.244.22.0/24 via 10.0.0.22 proto 176", "");
    commands.answer("nft -f -", "");
    connect(&agent, &wanted).await.unwrap();
    let all = [
        "ip -4 -j route show proto 176",
        "ip -4 route replace 10.96.0.0/12 dev lo src 10.0.0.21 proto 176",
        "ip -4 route replace 10.244.22.0/24 via 10.0.0.22 proto 176",
        "nft list table ip blackstart",
        "nft -f -",
    ];
    assert_eq!(commands.ran(), all);
    assert!(agent.host.disk.exists(Path::new(CNI_FILE)).unwrap());

    let routes =
        r#"[{"dst":"10.96.0.0/12","dev":"lo","prefsrc":"10.0.0.21"},{"dst":"10.244.22.0/24","gateway":"10.0.0.22"}]"#;
    commands.answer("ip -4 -j route show proto 176", routes);
    let table = "table ip blackstart { chain postrouting { type nat hook postrouting priority srcnat; policy accept; \
                 ip saddr 10.244.21.0/24 ip daddr != 10.244.0.0/16 masquerade } }";
    commands.answer("nft list table ip blackstart", table);
    connect(&agent, &wanted).await.unwrap();
    assert_eq!(commands.ran(), ["ip -4 -j route show proto 176", "nft list table ip blackstart"]);
}

#[tokio::test]
async fn one_part_that_fails_does_not_stop_the_others() {
    let commands = Arc::new(Scripted::default());
    let agent = agent("worker-01", &commands);
    let known = [("worker-01".to_owned(), peer(&agent.cluster, &node("worker-01", "10.244.21.0/24")).unwrap())].into();
    let error = connect(&agent, &wanted("worker-01", &known).unwrap()).await.unwrap_err();
    assert!(matches!(&error, AgentError::Several(errors) if errors.len() == 2), "{error}");
    assert!(agent.host.disk.exists(Path::new(CNI_FILE)).unwrap());
}
