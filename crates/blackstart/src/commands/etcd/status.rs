//! `blackstart etcd status`: every member, also where some or all are down.

use etcd::survey::{Health, Role, Row, Survey, ask};
use indicatif::HumanBytes;

use super::{access, masters};
use crate::{
    Exit, Style,
    context::{Context, Ended, block_on},
    output::painted,
    progress::busy,
};

/// Nothing can be written: more than a member that is missing.
const NO_MAJORITY: Exit = Exit::Other(3);

pub(super) fn run(context: &Context) -> Result<(), Ended> {
    let cluster = context.cluster(None)?;
    let access = access(context)?;
    let heard = busy(context.out, "asking every member", || block_on(ask(&access, masters(&cluster))))?;
    let survey = Survey::of(&heard);
    if context.out.is_json() {
        context.out.json(&survey)?;
    } else {
        context.out.text(&shown(&survey, context.out.color()))?;
    }
    match (survey.is_well(), survey.has_majority) {
        (true, _) => Ok(()),
        (false, true) => Err(Ended::Reported(Exit::Failed)),
        (false, false) => Err(Ended::Reported(NO_MAJORITY)),
    }
}

fn shown(survey: &Survey, color: bool) -> String {
    let width = survey.members.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max("NAME".len());
    let mut text = format!(
        "{:<16}  {:<width$}  ROLE     HEALTH        VERSION  DB SIZE      INDEX       TERM\n",
        "MEMBER", "NAME"
    );
    for row in &survey.members {
        text += line(row, width, color).trim_end();
        text += "\n";
        for problem in &row.problems {
            text += &format!("{:<16}  {}: {problem}\n", "", painted(color, Style::Warning, "problem"));
        }
    }
    text + &summary(survey, color)
}

fn line(row: &Row, width: usize, color: bool) -> String {
    let role = match row.role {
        Role::Leader => "leader",
        Role::Voter => "voter",
        Role::Learner => "learner",
        Role::None => "-",
    };
    let (health, style) = match row.health {
        Health::Healthy => ("healthy", Style::Good),
        Health::Ailing => ("ailing", Style::Bad),
        Health::Silent => ("silent", Style::Bad),
        Health::NotStarted => ("not started", Style::Warning),
        Health::NotAMember => ("not a member", Style::Warning),
    };
    let health = painted(color, style, format!("{health:<12}"));
    let id = row.id.as_deref().unwrap_or("-");
    let known = row.reported.as_ref().map_or_else(String::new, |reported| {
        let size = HumanBytes(reported.db_size).to_string();
        format!("{:<7}  {size:<11}  {:<10}  {}", reported.version, reported.raft_index, reported.raft_term)
    });
    format!("{id:<16}  {:<width$}  {role:<7}  {health}  {known}", row.name)
}

fn summary(survey: &Survey, color: bool) -> String {
    let votes = survey.votes();
    if survey.voters == 0 {
        let reported = painted(color, Style::Bad, "no master answers, so the members are unknown");
        return format!("{reported}; `journalctl -u etcd` on a master shows why\n");
    }
    if !survey.has_majority {
        return painted(color, Style::Bad, format!("no majority: {votes}; nothing can be written")) + "\n";
    }
    match votes.spare() {
        0 => format!("{votes}; none of them may fail\n"),
        spare => format!("{votes}; {spare} of them may fail\n"),
    }
}

#[cfg(test)]
mod tests {
    use etcd::survey::Figures;

    use super::*;

    fn row(name: &str, role: Role, health: Health) -> Row {
        let reported =
            Figures { version: "3.7.3".into(), db_size: 2_207_744, raft_index: 14_021, raft_term: 3, revision: 12_000 };
        let is_there = matches!(health, Health::Healthy | Health::Ailing);
        Row {
            id: (role != Role::None).then(|| "8e9e05c52164694d".into()),
            name: name.into(),
            url: None,
            peer_urls: Vec::new(),
            role,
            health,
            reported: is_there.then_some(reported),
            problems: if health == Health::Healthy { vec![] } else { vec!["connection refused".into()] },
        }
    }

    #[test]
    fn what_people_see() {
        let three = |last: Row, has_majority, healthy| Survey {
            members: vec![
                row("master-01", Role::Leader, Health::Healthy),
                row("master-02", Role::Voter, if has_majority { Health::Healthy } else { Health::Silent }),
                last,
            ],
            has_majority,
            voters: 3,
            healthy,
        };
        let silent = Survey {
            members: vec![row("master-01", Role::None, Health::Silent)],
            has_majority: false,
            voters: 0,
            healthy: 0,
        };
        let cases = [
            three(row("master-03", Role::Voter, Health::Healthy), true, 3),
            three(row("master-03", Role::Voter, Health::Silent), true, 2),
            three(row("master-03", Role::Voter, Health::Silent), false, 1),
            three(row("master-03", Role::Learner, Health::NotStarted), true, 2),
            silent,
        ];
        insta::assert_snapshot!(cases.iter().map(|survey| shown(survey, false)).collect::<Vec<_>>().join("\n"));
    }
}
