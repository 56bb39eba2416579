//! From what was heard to one row per member. Pure.

use super::{Figures, Health, Heard, Reported, Role, Row, Survey, best_list};
use crate::{Alarm, Member};

pub(super) fn evaluate(heard: &[Heard]) -> Survey {
    let (members, has_majority) = best_list(heard).unwrap_or_default();
    let leader = leader(heard);
    let alarms = alarms(heard);
    let mut rows: Vec<Row> = members.iter().map(|member| of_member(member, heard, leader, &alarms)).collect();
    let none_reported = members.is_empty();
    let strangers = heard.iter().filter(|one| !members.iter().any(|member| is_of(one, member)));
    rows.extend(strangers.map(|one| of_stranger(one, none_reported)));
    rows.sort_by(|one, next| one.name.cmp(&next.name));
    let voters = rows.iter().filter(|row| matches!(row.role, Role::Leader | Role::Voter));
    let healthy = voters.clone().filter(|row| row.health == Health::Healthy).count();
    Survey { has_majority, voters: voters.count(), healthy, members: rows }
}

/// Whether this is what was heard of that member.
fn is_of(heard: &Heard, member: &Member) -> bool {
    match &heard.reported {
        Ok(reported) => reported.status.member_id() == member.id,
        // One that was only announced has no name yet, and is known by its address.
        Err(_) => heard.name == member.name || member.peer_urls.iter().any(|url| address(url) == address(&heard.url)),
    }
}

/// A URL without its port: a member's differs for clients and for other members.
fn address(url: &str) -> &str {
    url.rsplit_once(':').map_or(url, |(address, _)| address)
}

/// As the member that has seen the latest election says; zero if none knows one.
fn leader(heard: &[Heard]) -> u64 {
    let reported = heard.iter().filter_map(|one| one.reported.as_ref().ok());
    reported.max_by_key(|reported| reported.status.raft_term).map_or(0, |reported| reported.status.leader)
}

fn alarms(heard: &[Heard]) -> Vec<Alarm> {
    let reported = heard.iter().filter_map(|one| one.reported.as_ref().ok());
    let mut all: Vec<Alarm> = Vec::new();
    for alarm in reported.flat_map(|reported| &reported.alarms) {
        if !all.contains(alarm) {
            all.push(alarm.clone());
        }
    }
    all
}

fn of_member(member: &Member, heard: &[Heard], leader: u64, alarms: &[Alarm]) -> Row {
    let of_it = heard.iter().find(|one| is_of(one, member));
    let own = alarms.iter().filter(|alarm| alarm.member == member.id);
    let mut problems: Vec<String> = own.map(|alarm| alarm.kind.meaning().to_owned()).collect();
    let reported = of_it.and_then(|one| one.reported.as_ref().ok());
    let health = match (reported, of_it) {
        (Some(reported), _) => {
            problems.extend(complaints(reported));
            if problems.is_empty() { Health::Healthy } else { Health::Ailing }
        }
        (None, _) if !member.has_started() => {
            problems.push("it was added but never started".to_owned());
            Health::NotStarted
        }
        (None, Some(Heard { reported: Err(why), .. })) => {
            problems.push(why.clone());
            Health::Silent
        }
        (None, _) => {
            problems.push("its address is unknown".to_owned());
            Health::Silent
        }
    };
    let role = match member {
        Member { is_learner: true, .. } => Role::Learner,
        Member { id, .. } if *id == leader => Role::Leader,
        Member { .. } => Role::Voter,
    };
    let named = [&member.name].into_iter().chain(of_it.map(|one| &one.name)).find(|name| !name.is_empty());
    Row {
        id: Some(format!("{:x}", member.id)),
        name: named.cloned().unwrap_or_default(),
        url: of_it.map(|one| one.url.clone()).or_else(|| member.client_urls.first().cloned()),
        peer_urls: member.peer_urls.clone(),
        role,
        health,
        reported: reported.map(figures),
        problems,
    }
}

fn complaints(reported: &Reported) -> Vec<String> {
    // What etcd reports as an error of its own repeats the alarm.
    let own = reported.status.errors.iter().filter(|error| !error.contains("alarm"));
    let leaderless = (reported.status.leader == 0).then(|| "it sees no leader".to_owned());
    own.cloned().chain(leaderless).collect()
}

/// A master that is not in the list, or of which no member could say whether it is.
fn of_stranger(heard: &Heard, none_reported: bool) -> Row {
    let (health, problem) = match &heard.reported {
        Ok(_) => (Health::NotAMember, "it answers but is not a member of this cluster".to_owned()),
        Err(why) if none_reported => (Health::Silent, why.clone()),
        Err(why) => (Health::NotAMember, format!("not a member yet; {why}")),
    };
    Row {
        id: None,
        name: heard.name.clone(),
        url: Some(heard.url.clone()),
        peer_urls: Vec::new(),
        role: Role::None,
        health,
        reported: heard.reported.as_ref().ok().map(figures),
        problems: vec![problem],
    }
}

fn figures(reported: &Reported) -> Figures {
    let status = &reported.status;
    Figures {
        version: status.version.clone(),
        db_size: status.db_size,
        raft_index: status.raft_index,
        raft_term: status.raft_term,
        revision: status.revision(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// One letter per master: L leader, V voter, v a silent voter, e a learner, n announced only, x no member, q a voter
    /// without a leader, f one whose disk is full. `agreed` is whether there is a majority.
    fn survey(masters: &str, agreed: bool) -> Survey {
        let members: Vec<Member> = (1u64..)
            .zip(masters.chars())
            .filter(|(_, letter)| *letter != 'x')
            .map(|(id, letter)| {
                let name = if letter == 'n' { String::new() } else { format!("m{id}") };
                let clients = if letter == 'n' { vec![] } else { vec![format!("https://10.0.0.{id}:2379")] };
                let peers = [format!("https://10.0.0.{id}:2380")];
                serde_json::from_value(json!({ "ID": id.to_string(), "name": name, "peerURLs": peers,
                    "clientURLs": clients, "isLearner": matches!(letter, 'e' | 'n') }))
                .unwrap()
            })
            .collect();
        let leader = masters.find('L').map_or(0, |at| at + 1);
        let full = (1u64..).zip(masters.chars()).find(|(_, letter)| *letter == 'f').map(|(id, _)| id);
        let heard: Vec<Heard> = (1u64..)
            .zip(masters.chars())
            .map(|(id, letter)| {
                let leader = if letter == 'q' { 0 } else { leader };
                let status = json!({ "header": { "member_id": id.to_string(), "revision": "70" }, "version": "3.7.3",
                    "dbSize": "20480", "leader": leader.to_string(), "raftIndex": "99", "raftTerm": "2" });
                let reported = || Reported {
                    status: serde_json::from_value(status).unwrap(),
                    known: members.clone(),
                    agreed: agreed.then(|| members.clone()),
                    alarms: full.map(|member| Alarm { member, kind: crate::AlarmKind::NoSpace }).into_iter().collect(),
                };
                Heard {
                    name: format!("m{id}"),
                    url: format!("https://10.0.0.{id}:2379"),
                    reported: if matches!(letter, 'v' | 'n' | 'x') {
                        Err("connection refused".into())
                    } else {
                        Ok(reported())
                    },
                }
            })
            .collect();
        Survey::of(&heard)
    }

    #[test]
    fn whatever_is_heard_becomes_rows() {
        let cases = [
            ("L", true),
            ("LVV", true),
            ("VLv", true),
            ("qvv", false),
            ("vvv", false),
            ("LVe", true),
            ("LVn", true),
            ("LVx", true),
            ("LVf", true),
        ];
        let reported = cases.map(|(masters, agreed)| {
            let survey = survey(masters, agreed);
            let rows: Vec<String> = survey
                .members
                .iter()
                .map(|row| {
                    let id = row.id.as_deref().unwrap_or("-");
                    format!("  {id} {} {:?} {:?} {}", row.name, row.role, row.health, row.problems.join("; "))
                })
                .collect();
            let majority = if survey.has_majority { "majority" } else { "no majority" };
            let well = if survey.is_well() { ", well" } else { "" };
            format!("{masters}: {}, {majority}{well}\n{}", survey.votes(), rows.join("\n"))
        });
        insta::assert_snapshot!(reported.join("\n"));
    }
}
