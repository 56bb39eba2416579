//! A bootstrap node that is gone and still a member of etcd, which counts with it.

use etcd::{
    quorum::Votes,
    survey::{Role, Row, Survey},
};

use super::{REMOVE, gone};
use crate::{Check, Checking, Context, Finding, Part, Roles, codes::BOOTSTRAP_MEMBER};

/// See [`super::super`].
pub(crate) const CHECK: Check =
    Check::new("bootstrap-member", "a bootstrap node that is gone: its member of etcd", &[BOOTSTRAP_MEMBER], check)
        .only(Roles::Masters);

fn check(context: &Context) -> Checking<'_> {
    Box::pin(async move {
        let Some(node) = gone(context).await? else { return Ok(Vec::new()) };
        let survey = Survey::of(&context.etcd().await?.heard);
        let url = etcd::peer_url(node.ip);
        let row = survey.members.iter().find(|row| row.peer_urls.contains(&url));
        Ok(row.map(|row| evaluate(&node.name, row, survey.votes())).into_iter().collect())
    })
}

fn evaluate(name: &str, row: &Row, votes: Votes) -> Finding {
    let follows = match votes.healthy.checked_sub(votes.majority()) {
        _ if row.role == Role::Learner => {
            "it has no vote, and no other master can join before it is removed".to_owned()
        }
        None => "etcd has no majority".to_owned(),
        Some(0) => "one more failure stops etcd".to_owned(),
        Some(spare) => format!("{} more failures stop etcd", spare + 1),
    };
    let evidence = format!("{name} is a member of etcd and does not answer ({votes}): {follows}");
    Finding::warning(BOOTSTRAP_MEMBER, Part::Etcd, evidence).with_fix(REMOVE)
}

#[cfg(test)]
mod tests {
    use etcd::survey::Health;

    use super::*;

    #[test]
    fn the_arithmetic_is_shown() {
        let row = |role| Row {
            id: Some("1".into()),
            name: "bootstrap".into(),
            url: None,
            peer_urls: Vec::new(),
            role,
            health: Health::Silent,
            reported: None,
            problems: Vec::new(),
        };
        let reported = |role, voters, healthy| evaluate("bootstrap", &row(role), Votes { voters, healthy }).evidence;
        insta::assert_snapshot!(
            [
                reported(Role::Voter, 4, 3),
                reported(Role::Voter, 2, 1),
                reported(Role::Voter, 6, 5),
                reported(Role::Learner, 3, 3),
            ]
            .join("\n")
        );
    }
}
