//! From what was heard of etcd's members to what is wrong with them. Pure.

use std::collections::BTreeMap;

use etcd::{
    quorum::Votes,
    survey::{Health, Heard, Role, Row, Survey},
};
use join::wire::ClusterState;
use spec::ports;

use super::apart::Sides;
use crate::{
    Finding, Part,
    codes::{ETCD_LEARNER, ETCD_MEMBER_LOST, ETCD_MEMBER_SILENT, ETCD_NEVER_CAME, ETCD_NO_LEADER, ETCD_NO_MEMBER},
};

/// What etcd logs when it is started, or still runs, and the others have taken it out.
pub(in crate::causes) const REMOVED: &[&str] = &["permanently removed from the cluster", "the member has been removed"];

/// How masters stand to etcd by what is on their disks, by name.
pub(super) type ClusterStates = BTreeMap<String, ClusterState>;

/// What is known of etcd.
pub(super) struct Seen<'a> {
    /// The name of this master.
    pub(super) own: &'a str,
    pub(super) heard: &'a [Heard],
    /// Of masters whose members do not answer.
    pub(super) cluster_states: &'a ClusterStates,
    /// What this master's own member logged, the last line first, if it does not answer.
    pub(super) log: &'a str,
    /// Where the other members would reach a bootstrap node that is gone.
    pub(super) gone: Option<&'a str>,
}

/// What there is to say.
pub(super) fn evaluate(seen: &Seen<'_>) -> Vec<Finding> {
    let sides = Sides::of(seen.own, seen.heard);
    if sides.is_own_astray(seen.own) {
        return sides.finding(seen.own).into_iter().collect(); // the state of the others does not matter
    }
    let one_cluster: Vec<Heard> = seen.heard.iter().filter(|one| !sides.is_theirs(&one.name)).cloned().collect();
    let survey = Survey::of(&one_cluster);
    let mut found: Vec<Finding> = sides.finding(seen.own).into_iter().collect();
    found.extend(without_leader(seen, &survey));
    if survey.has_majority {
        let is_gone = |row: &Row| row.peer_urls.iter().any(|url| Some(url.as_str()) == seen.gone);
        let rows = survey.members.iter().filter(|row| !sides.is_theirs(&row.name) && !is_gone(row));
        found.extend(rows.filter_map(|row| of_row(row, seen, survey.votes())));
    } else {
        // No majority can be asked whether it is still a member, but its own log shows it.
        let output = removed_line(seen).map(|line| format!("etcd on this master logged: {line}"));
        found.extend(output.map(|evidence| Finding::cause(ETCD_NO_MEMBER, Part::Etcd, evidence)));
    }
    found
}

/// Whether nothing can be read or written through this master, or through any. A symptom: the network of this machine may
/// be the reason, and has looks of its own.
fn without_leader(seen: &Seen<'_>, survey: &Survey) -> Option<Finding> {
    let reported = || seen.heard.iter().filter_map(|one| Some((one, one.reported.as_ref().ok()?)));
    let own_sees_none = reported().any(|(one, reported)| one.name == seen.own && reported.status.leader == 0);
    let none_sees_one = reported().next().is_some() && reported().all(|(_, reported)| reported.status.leader == 0);
    if !own_sees_none && !none_sees_one {
        return None;
    }
    let evidence = if survey.has_majority {
        format!(
            "etcd on this master has no leader, and the others have one without it ({}): it has just started, or does not \
             hear them on port {}",
            survey.votes(),
            ports::ETCD_PEER
        )
    } else {
        no_majority(survey)
    };
    Some(Finding::symptom(ETCD_NO_LEADER, Part::Etcd, evidence))
}

/// A member that answers is healthy but for those that do not.
fn no_majority(survey: &Survey) -> String {
    let with_a_vote = || survey.members.iter().filter(|row| matches!(row.role, Role::Leader | Role::Voter));
    let is_missing = |row: &&Row| matches!(row.health, Health::Silent | Health::NotStarted);
    let (all, missing): (usize, Vec<String>) =
        (with_a_vote().count(), with_a_vote().filter(is_missing).map(missed).collect());
    let votes = Votes { voters: all, healthy: all - missing.len() };
    if missing.len() <= all - votes.majority() {
        return format!(
            "etcd has no leader: {votes}; they are electing one at this moment, or do not hear each other on port {}",
            ports::ETCD_PEER
        );
    }
    format!("etcd has no leader: {votes}; {}", missing.join("; "))
}

fn missed(row: &Row) -> String {
    match row.health {
        Health::NotStarted => format!("{} that never started", whose(row)),
        _ => format!("{}: {}", whose(row), row.problems.join(", ")),
    }
}

/// A member is known by its name; one that has never been there by where it is expected.
fn whose(row: &Row) -> String {
    let at = row.peer_urls.join(", ");
    match (row.name.as_str(), row.health) {
        ("", _) => format!("a member at {at}"),
        (name, Health::NotStarted) => format!("{name} ({at})"),
        (name, _) => name.to_owned(),
    }
}

/// What is wrong with a member, or with a master that should be one, where most of them work.
fn of_row(row: &Row, seen: &Seen<'_>, votes: Votes) -> Option<Finding> {
    if row.name == seen.own { of_own(row, seen, votes) } else { of_other(row, seen, votes) }
}

/// The check of this master's own member reports that it does not answer.
fn of_own(row: &Row, seen: &Seen<'_>, votes: Votes) -> Option<Finding> {
    match (row.role, row.health) {
        (Role::None, _) => {
            let output = removed_line(seen).map(|line| format!("; etcd logged: {line}")).unwrap_or_default();
            let evidence = format!("this master is not among etcd's members, who have a majority ({votes}){output}");
            Some(Finding::cause(ETCD_NO_MEMBER, Part::Etcd, evidence))
        }
        (Role::Learner, Health::Healthy | Health::Ailing) => {
            let evidence = "etcd on this master has no vote, so it answers neither reads nor writes";
            Some(Finding::cause(ETCD_LEARNER, Part::Etcd, evidence))
        }
        _ => None,
    }
}

/// What has to be done is to be done there.
fn of_other(row: &Row, seen: &Seen<'_>, votes: Votes) -> Option<Finding> {
    let whose = whose(row);
    let (code, evidence) = match (row.role, row.health) {
        (Role::None, _) => (ETCD_NO_MEMBER, format!("{whose} is not among etcd's members ({votes})")),
        (Role::Learner, Health::NotStarted) => {
            (ETCD_NEVER_CAME, format!("{whose} was added to etcd as a learner and never started"))
        }
        (_, Health::NotStarted) => (ETCD_NEVER_CAME, format!("{whose} was added to etcd and never started ({votes})")),
        (Role::Learner, _) => (ETCD_LEARNER, format!("the member {whose} has no vote ({votes})")),
        (_, Health::Silent) => return Some(silent(row, seen, votes)),
        _ => return None,
    };
    Some(Finding::warning(code, Part::Etcd, evidence))
}

/// What its machine reports of its disk distinguishes a process that is down from data that are gone.
fn silent(row: &Row, seen: &Seen<'_>, votes: Votes) -> Finding {
    let (name, why) = (&row.name, row.problems.join(", "));
    match seen.cluster_states.get(name) {
        Some(ClusterState::Apart | ClusterState::Decided) => {
            let evidence = format!("{name} is a member of etcd ({votes}), and its machine has no data of etcd");
            Finding::warning(ETCD_MEMBER_LOST, Part::Etcd, evidence)
        }
        Some(ClusterState::Member) => {
            let evidence = format!("{votes}; {name}: {why}; its machine is there");
            let fix = format!("`blackstart diagnose` on {name} finds why its etcd does not answer");
            Finding::warning(ETCD_MEMBER_SILENT, Part::Etcd, evidence).with_fix(fix)
        }
        None => Finding::warning(ETCD_MEMBER_SILENT, Part::Etcd, format!("{votes}; {name}: {why}")),
    }
}

/// The last line in which this master's member logged that it was taken out.
fn removed_line<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    seen.log.lines().find(|line| REMOVED.iter().any(|words| line.contains(words))).map(str::trim)
}
