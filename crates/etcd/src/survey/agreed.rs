//! What a majority agrees on: the ground on which a change of membership is decided. Pure.

use super::Heard;
use crate::Member;

/// The members a majority agrees on, and which of them work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// All of them.
    pub members: Vec<Member>,
    /// Those that answer and have nothing to complain about.
    pub healthy: Vec<u64>,
    /// Those that speak for the majority, and where.
    speakers: Vec<(u64, String)>,
}

impl Agreed {
    /// From what was heard; if no answer speaks for a majority, why not.
    pub fn of(heard: &[Heard]) -> Result<Self, String> {
        let reported = || heard.iter().filter_map(|one| Some((one, one.reported.as_ref().ok()?)));
        let Some(members) = reported().find_map(|(_, reported)| reported.agreed.clone()) else {
            let why = |one: &Heard| match &one.reported {
                Ok(_) => format!("{} answers without a majority", named(one)),
                Err(why) => format!("{}: {why}", named(one)),
            };
            return Err(heard.iter().map(why).collect::<Vec<_>>().join("; "));
        };
        let speaks = reported().filter(|(_, reported)| reported.agreed.is_some());
        let is_well = reported().filter(|(_, reported)| reported.status.errors.is_empty());
        Ok(Self {
            members,
            healthy: is_well.map(|(_, reported)| reported.status.member_id()).collect(),
            speakers: speaks.map(|(one, reported)| (reported.status.member_id(), one.url.clone())).collect(),
        })
    }

    /// Whether a member answers and has nothing to complain about.
    pub fn is_healthy(&self, id: u64) -> bool {
        self.healthy.contains(&id)
    }

    /// The member of this name, or at this peer URL: one that has never started has no name yet.
    pub fn member(&self, name: &str, peer_url: Option<&str>) -> Option<&Member> {
        let is_at = |member: &Member| peer_url.is_some_and(|wanted| member.peer_urls.iter().any(|url| url == wanted));
        self.members.iter().find(|member| member.name == name || is_at(member))
    }

    /// Where a change can be asked for. A member is not to be asked for its own removal: it is gone before it answers.
    pub fn speaker_besides(&self, id: Option<u64>) -> Option<&str> {
        self.speakers.iter().find(|(speaker, _)| Some(*speaker) != id).map(|(_, url)| url.as_str())
    }
}

fn named(heard: &Heard) -> &str {
    if heard.name.is_empty() { &heard.url } else { &heard.name }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::survey::Reported;

    /// One letter per master: V a voter that speaks for the majority, a an ailing one that does, q one without a majority,
    /// v a silent one.
    fn heard(masters: &str) -> Vec<Heard> {
        let member = |id: u64| -> Member {
            serde_json::from_value(json!({ "ID": id.to_string(), "name": format!("m{id}"),
                                           "peerURLs": [format!("https://m{id}:2380")] }))
            .unwrap()
        };
        let numbered: Vec<(u64, char)> = (1..).zip(masters.chars()).collect();
        let members: Vec<Member> = numbered.iter().map(|(id, _)| member(*id)).collect();
        let one = |(id, letter): &(u64, char)| {
            let errors: &[&str] = if *letter == 'a' { &["etcdserver: mvcc: database space exceeded"] } else { &[] };
            let status = json!({ "header": { "member_id": id.to_string() }, "version": "3.7.3", "errors": errors });
            let reported = || Reported {
                status: serde_json::from_value(status).unwrap(),
                known: members.clone(),
                agreed: (*letter != 'q').then(|| members.clone()),
                alarms: Vec::new(),
            };
            let reported = if *letter == 'v' { Err("connection refused".to_owned()) } else { Ok(reported()) };
            Heard { name: format!("m{id}"), url: format!("https://m{id}:2379"), reported }
        };
        numbered.iter().map(one).collect()
    }

    #[test]
    fn a_majority_is_asked_besides_the_one_that_goes() {
        for (masters, healthy, besides_first) in [
            ("VVV", vec![1, 2, 3], Some("https://m2:2379")),
            ("VvV", vec![1, 3], Some("https://m3:2379")),
            ("VaV", vec![1, 3], Some("https://m2:2379")),
            ("V", vec![1], None),
        ] {
            let agreed = Agreed::of(&heard(masters)).unwrap();
            assert_eq!(
                (agreed.healthy.clone(), agreed.speaker_besides(Some(1))),
                (healthy, besides_first),
                "{masters}"
            );
            assert_eq!(agreed.speaker_besides(None), Some("https://m1:2379"));
        }
    }

    #[test]
    fn without_a_majority_everybody_is_named() {
        assert_eq!(Agreed::of(&heard("qv")).unwrap_err(), "m1 answers without a majority; m2: connection refused");
    }

    #[test]
    fn a_member_is_known_by_name_or_by_where_its_peers_reach_it() {
        let agreed = Agreed::of(&heard("VV")).unwrap();
        let id = |name, url| agreed.member(name, url).map(|member| member.id);
        assert_eq!(id("m2", None), Some(2));
        assert_eq!(id("other", Some("https://m2:2380")), Some(2));
        assert_eq!(id("other", Some("https://m9:2380")), None);
        assert_eq!(id("other", None), None);
    }
}
