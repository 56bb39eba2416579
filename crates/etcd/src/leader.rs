//! Who leads. A leader that goes takes with it what the other members have just passed on to it: etcd drops those writes,
//! and the writer hears after seven seconds that it has failed. So one that is to go is replaced before.

use serde::Deserialize;
use serde_json::json;

use crate::{
    Etcd, EtcdError,
    survey::{Heard, best_list},
};

#[derive(Deserialize)]
struct Nothing {}

impl Etcd {
    /// Lets another member lead; only the leader does it. No write should be on its way meanwhile.
    pub async fn lead_by(&self, id: u64) -> Result<(), EtcdError> {
        let body = json!({ "targetID": id.to_string() });
        self.call::<Nothing>("/v3/maintenance/transfer-leadership", body).await.map(drop)
    }
}

/// Who is best to lead in place of the master of this name. `None` if it does not lead, or no other could.
pub fn successor(heard: &[Heard], master: &str) -> Option<u64> {
    let status = |heard: &Heard| heard.reported.as_ref().ok().map(|reported| reported.status.clone());
    let own = status(heard.iter().find(|one| one.name == master)?)?;
    let members = best_list(heard)?.0;
    let has_vote = |id: u64| members.iter().any(|member| member.id == id && !member.is_learner);
    let follows = |id: u64| id != own.member_id() && own.leader == own.member_id();
    let others =
        heard.iter().filter_map(status).filter(|other| follows(other.member_id()) && has_vote(other.member_id()));
    others.max_by_key(|other| other.raft_index).map(|other| other.member_id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Member, survey::Reported};

    /// Master `n` has the number `n`; `leader` leads, and so far is its log.
    fn reported(number: u64, leader: u64, index: u64) -> Reported {
        let status = json!({
            "version": "3.7.3", "leader": leader.to_string(), "raftIndex": index.to_string(),
            "header": { "member_id": number.to_string() },
        });
        let member = |id: u64| -> Member {
            serde_json::from_value(json!({ "ID": id.to_string(), "isLearner": id == 4 })).unwrap()
        };
        let status = serde_json::from_value(status).unwrap();
        Reported { status, known: (1..=4).map(member).collect(), agreed: None, alarms: Vec::new() }
    }

    fn heard(number: u64, reported: Result<Reported, String>) -> Heard {
        Heard { name: format!("master-0{number}"), url: String::new(), reported }
    }

    #[test]
    fn the_one_with_the_longest_log_that_answers_and_has_a_vote() {
        let all = |leader: u64, third: Result<Reported, String>| {
            vec![
                heard(1, Ok(reported(1, leader, 90))),
                heard(2, Ok(reported(2, leader, 80))),
                heard(3, third),
                heard(4, Ok(reported(4, leader, 99))),
            ]
        };
        for (leader, third, expected) in [
            (1, Ok(reported(3, 1, 85)), Some(3)),
            (1, Ok(reported(3, 1, 70)), Some(2)),
            (1, Err("it is silent".to_owned()), Some(2)),
            (2, Ok(reported(3, 2, 85)), None),
        ] {
            assert_eq!(successor(&all(leader, third.clone()), "master-01"), expected, "{leader} {third:?}");
        }
        assert_eq!(successor(&[heard(1, Ok(reported(1, 1, 9)))], "master-01"), None, "a member that is alone");
        assert_eq!(successor(&[heard(1, Err("it is silent".to_owned()))], "master-01"), None);
    }
}
