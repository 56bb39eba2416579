//! etcd as a whole: whether most of its members are there, and whether each of them is what it should be.
//!
//! All masters are asked, so a master can tell what is wrong with another one. That is a warning as long as most of them
//! work: what has to be mended is on that master, and `diagnose` there says more.

mod apart;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, time::Duration};

use etcd::{
    quorum::Votes,
    survey::{Health, Heard, Role, Row, Survey},
};
use join::{Client, Trust, seal::Sealed, wire::Standing};
use spec::ports;

use self::apart::Sides;
use crate::{
    Context, Finding, Look, Part, Roles,
    codes::{
        ETCD_APART, ETCD_LEARNER, ETCD_MEMBER_LOST, ETCD_MEMBER_SILENT, ETCD_NEVER_CAME, ETCD_NO_LEADER, ETCD_NO_MEMBER,
    },
    finding::CouldNotLook,
    look::Looking,
};

/// See [`super`].
pub(crate) const LOOK: Look = Look {
    name: "etcd-members",
    about: "etcd's members: a majority, one cluster, each of them there and with a vote",
    codes: &[
        ETCD_NO_LEADER,
        ETCD_MEMBER_SILENT,
        ETCD_MEMBER_LOST,
        ETCD_NEVER_CAME,
        ETCD_LEARNER,
        ETCD_NO_MEMBER,
        ETCD_APART,
    ],
    roles: Roles::Masters,
    look,
};

/// Whoever is there answers at once.
const LIMIT: Duration = Duration::from_secs(2);

/// What etcd says when it is started, or still runs, and the others have taken it out.
const REMOVED: &[&str] = &["permanently removed from the cluster", "the member has been removed"];

/// How masters stand to etcd by what is on their disks, by name.
type Standings = BTreeMap<String, Standing>;

/// What is known of etcd.
struct Seen<'a> {
    /// The name of this master.
    own: &'a str,
    heard: &'a [Heard],
    /// Of masters whose members do not answer.
    standings: &'a Standings,
    /// The last lines of this master's own member, if it does not answer.
    log: &'a str,
}

fn look<'a>(context: &'a Context<'a>) -> Looking<'a> {
    Box::pin(async move {
        if !context.was_done("etcd").await? {
            return Ok(Vec::new());
        }
        let view = context.etcd().await?;
        let is_silent = |one: &&Heard| one.told.is_err() && one.name != context.node.name;
        let standings =
            if view.heard.iter().any(|one| is_silent(&one)) { standings(context).await? } else { Standings::new() };
        let log = if view.own().is_err() { context.etcd_log().await? } else { String::new() };
        let seen = Seen { own: &context.node.name, heard: &view.heard, standings: &standings, log: &log };
        Ok(judge(&seen))
    })
}

/// Asks the join services. Those that do not answer, or are not believed, are left out: nothing is concluded from silence.
async fn standings(context: &Context<'_>) -> Result<Standings, CouldNotLook> {
    let Some(ca) = context.text(context.layout.kubernetes_dir.join("pki/ca.crt"))? else {
        return Ok(Standings::new());
    };
    let answers = Client::new(Sealed::masters(context.cluster), Trust::Ca(ca)).survey(LIMIT).await;
    let told = answers.into_iter().filter_map(|(_, outcome)| outcome.ok());
    Ok(told.map(|hello| (hello.master, hello.standing)).collect())
}

fn judge(seen: &Seen<'_>) -> Vec<Finding> {
    let sides = Sides::of(seen.own, seen.heard);
    if sides.is_own_astray(seen.own) {
        return sides.finding(seen.own).into_iter().collect(); // how the rest of it is matters to nobody
    }
    let one_cluster: Vec<Heard> = seen.heard.iter().filter(|one| !sides.is_theirs(&one.name)).cloned().collect();
    let survey = Survey::of(&one_cluster);
    let mut found: Vec<Finding> = sides.finding(seen.own).into_iter().collect();
    found.extend(without_leader(seen, &survey));
    if survey.has_majority {
        let rows = survey.members.iter().filter(|row| !sides.is_theirs(&row.name));
        found.extend(rows.filter_map(|row| of_row(row, seen, survey.votes())));
    } else {
        found.extend(removed_line(seen).map(|line| not_a_member(format!("etcd on this master said: {line}"))));
    }
    found
}

/// Whether nothing can be read or written through this master, or through any. A symptom: the network of this machine may
/// be the reason, and has looks of its own.
fn without_leader(seen: &Seen<'_>, survey: &Survey) -> Option<Finding> {
    let told = || seen.heard.iter().filter_map(|one| Some((one, one.told.as_ref().ok()?)));
    let own_sees_none = told().any(|(one, told)| one.name == seen.own && told.status.leader == 0);
    let nobody_sees_one = told().next().is_some() && told().all(|(_, told)| told.status.leader == 0);
    if !own_sees_none && !nobody_sees_one {
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
    let voters = || survey.members.iter().filter(|row| matches!(row.role, Role::Leader | Role::Voter));
    let is_missing = |row: &&Row| matches!(row.health, Health::Silent | Health::NotStarted);
    let (all, missing): (usize, Vec<String>) = (voters().count(), voters().filter(is_missing).map(missed).collect());
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
    let whose = whose(row);
    if row.name == seen.own {
        return match (row.role, row.health) {
            (Role::None, _) => {
                let said = removed_line(seen).map(|line| format!("; etcd said: {line}")).unwrap_or_default();
                Some(not_a_member(format!(
                    "this master is not among etcd's members, who have a majority ({votes}){said}"
                )))
            }
            (Role::Learner, Health::Healthy | Health::Ailing) => {
                let evidence = "etcd on this master has no vote, so it answers neither reads nor writes".to_owned();
                Some(Finding::cause(ETCD_LEARNER, Part::Etcd, evidence))
            }
            // That it does not answer is told by the look at this master's own.
            _ => None,
        };
    }
    let warning = |code, evidence: String| Some(Finding::warning(code, Part::Etcd, evidence));
    let (code, evidence) = match (row.role, row.health) {
        (Role::None, _) => (ETCD_NO_MEMBER, format!("{whose} is not among etcd's members ({votes})")),
        (Role::Learner, Health::NotStarted) => {
            (ETCD_NEVER_CAME, format!("{whose} was announced to etcd, without a vote, and has never been there"))
        }
        (_, Health::NotStarted) => {
            (ETCD_NEVER_CAME, format!("{whose} was announced to etcd and has never been there ({votes})"))
        }
        (Role::Learner, _) => (ETCD_LEARNER, format!("the member {whose} has no vote ({votes})")),
        (_, Health::Silent) => return Some(silent(row, seen, votes)),
        _ => return None,
    };
    warning(code, evidence)
}

/// What its machine says of its disk tells a process that is down from data that are gone.
fn silent(row: &Row, seen: &Seen<'_>, votes: Votes) -> Finding {
    let (name, why) = (&row.name, row.problems.join(", "));
    match seen.standings.get(name) {
        Some(Standing::Apart | Standing::Decided) => {
            let evidence = format!("{name} is a member of etcd ({votes}), and its machine has no data of etcd");
            Finding::warning(ETCD_MEMBER_LOST, Part::Etcd, evidence)
        }
        Some(Standing::Member) => {
            let evidence = format!("{votes}; {name}: {why}; its machine is there");
            let fix = format!("`blackstart diagnose` on {name} tells why its etcd does not answer");
            Finding::warning(ETCD_MEMBER_SILENT, Part::Etcd, evidence).with_fix(fix)
        }
        None => Finding::warning(ETCD_MEMBER_SILENT, Part::Etcd, format!("{votes}; {name}: {why}")),
    }
}

fn not_a_member(evidence: String) -> Finding {
    Finding::cause(ETCD_NO_MEMBER, Part::Etcd, evidence)
}

/// The last line in which this master's member says that it was taken out.
fn removed_line<'a>(seen: &Seen<'a>) -> Option<&'a str> {
    seen.log.lines().rev().find(|line| REMOVED.iter().any(|words| line.contains(words))).map(str::trim)
}
