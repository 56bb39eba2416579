use etcd::{
    Member,
    survey::{Heard, Reported},
};
use join::wire::ClusterState;
use serde_json::json;

use super::evaluate::{ClusterStates, Seen, evaluate};

/// What three masters report. One letter each: L the leader, V a voter, v a silent one, q one that sees no leader, e a learner,
/// n announced and never there, w a voter announced and never there, x no member, A in another cluster, S on its own with the
/// cluster's number. There is a majority if one of them leads.
fn heard(masters: &str) -> Vec<Heard> {
    let numbered = || (1u64..).zip(masters.chars());
    let member = |(id, letter): (u64, char)| -> Member {
        let has_started = !matches!(letter, 'n' | 'w');
        let name = if has_started { format!("m{id}") } else { String::new() };
        let clients: Vec<String> = has_started.then(|| format!("https://10.0.0.{id}:2379")).into_iter().collect();
        serde_json::from_value(json!({ "ID": id.to_string(), "name": name, "clientURLs": clients,
            "peerURLs": [format!("https://10.0.0.{id}:2380")], "isLearner": matches!(letter, 'e' | 'n') }))
        .unwrap()
    };
    let together: Vec<Member> = numbered().filter(|(_, letter)| *letter != 'x').map(member).collect();
    let leader = numbered().find(|(_, letter)| *letter == 'L').map(|(id, _)| id);
    let reported = |id: u64, letter: char| {
        let is_alone = matches!(letter, 'A' | 'S');
        let leader = if is_alone { Some(id) } else { leader.filter(|_| letter != 'q') };
        let members = if is_alone { vec![member((id, letter))] } else { together.clone() };
        let cluster = if letter == 'A' { "171" } else { "205" };
        let status = json!({ "header": { "member_id": id.to_string(), "cluster_id": cluster }, "version": "3.7.3",
                             "leader": leader.unwrap_or_default().to_string() });
        Reported {
            status: serde_json::from_value(status).unwrap(),
            agreed: (leader.is_some() && letter != 'e').then(|| members.clone()),
            known: members,
            alarms: Vec::new(),
        }
    };
    let is_silent = |letter| matches!(letter, 'v' | 'n' | 'w' | 'x');
    let one = |(id, letter)| Heard {
        name: format!("m{id}"),
        url: format!("https://10.0.0.{id}:2379"),
        reported: if is_silent(letter) { Err("no answer in time".to_owned()) } else { Ok(reported(id, letter)) },
    };
    numbered().map(one).collect()
}

/// What the first master reports.
fn reported(masters: &str, cluster_states: &[(&str, ClusterState)], log: &str) -> String {
    let cluster_states =
        cluster_states.iter().map(|(name, cluster_state)| ((*name).to_owned(), *cluster_state)).collect();
    let found = evaluate(&Seen { own: "m1", heard: &heard(masters), cluster_states: &cluster_states, log, gone: None });
    let lines: Vec<String> =
        found.iter().map(|finding| format!("  {} {:?}: {}\n", finding.id(), finding.kind, finding.evidence)).collect();
    format!("{masters}\n{}", lines.concat())
}

#[test]
fn one_finding_for_each_thing_that_is_wrong() {
    let plain = [
        "L", "VLV", "qvv", "qqv", "qqq", "qLV", "vvv", "vLV", "VLv", "LVn", "LVw", "qw", "LVe", "eLV", "LVx", "xLV",
        "LVA", "ALV", "LVS", "SLV", "LA", "vLA", "LVVvv", "qVvvv",
    ];
    let mut text: Vec<String> = plain.iter().map(|masters| reported(masters, &[], "")).collect();
    for cluster_state in [ClusterState::Apart, ClusterState::Decided, ClusterState::Member] {
        text.push(format!("m3 {cluster_state:?}, {}", reported("LVv", &[("m3", cluster_state)], "")));
    }
    let removed = "starting\n the member has been permanently removed from the cluster \nstopped";
    text.push(format!("log, {}", reported("xLV", &[], removed)));
    text.push(format!("log, {}", reported("vvv", &[], removed)));
    insta::assert_snapshot!(text.concat());
}

#[test]
fn members_that_come_and_go_are_not_another_cluster() {
    let mut seen = heard("LVV");
    // The second was asked a moment before the third came.
    if let Ok(reported) = &mut seen[1].reported {
        reported.agreed.as_mut().unwrap().pop();
    }
    let cluster_states = ClusterStates::new();
    assert_eq!(evaluate(&Seen { own: "m1", heard: &seen, cluster_states: &cluster_states, log: "", gone: None }), []);
}
