//! What a master without data has to do to be a member of etcd. Pure.

use std::collections::BTreeMap;

use etcd::Member;
use operations::quorum::{self, Change};

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cluster) enum Next {
    /// Announce it.
    Add,
    /// Take the member out that this master was before it lost its data.
    Remove(u64),
    /// It is announced: start with these members, by name and peer URL.
    Start(BTreeMap<String, String>),
    /// Something has to happen first.
    Wait(String),
}

/// How masters join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinOrder {
    /// One has its vote before the next is announced.
    OneByOne,
    /// The next is announced when the one before has started, as long as there is one voter: the bootstrap node.
    Learners,
}

/// What comes next for the master of this name and peer URL.
pub(super) fn next(node: &str, peer_url: &str, members: &[Member], healthy: &[u64], order: JoinOrder) -> Next {
    let is_healthy = |id: u64| healthy.contains(&id);
    let allowed = |change: Change, next: Next| match quorum::allow(change, members, is_healthy) {
        Ok(()) => next,
        Err(refused) => Next::Wait(format!("etcd to keep its quorum: {refused}")),
    };
    let own = members.iter().find(|member| member.name == node || member.peer_urls.iter().any(|url| url == peer_url));
    match own {
        Some(own) if own.is_learner && !own.has_started() => Next::Start(all(node, peer_url, members)),
        // It has no vote: the majority does not need it.
        Some(own) if own.is_learner => Next::Remove(own.id),
        Some(own) => allowed(Change::Remove(own.id), Next::Remove(own.id)),
        None => match members.iter().find(|member| member.is_learner) {
            Some(other) if order == JoinOrder::OneByOne || voters(members) > 1 => {
                Next::Wait(format!("{} to have its vote: one member at a time", reported(other)))
            }
            _ => allowed(Change::Add, Next::Add),
        },
    }
}

fn voters(members: &[Member]) -> usize {
    members.iter().filter(|member| !member.is_learner).count()
}

fn reported(member: &Member) -> String {
    let url = || member.peer_urls.first().cloned().unwrap_or_default();
    if member.name.is_empty() { format!("the member at {}", url()) } else { member.name.clone() }
}

/// Everybody as etcd wants to hear it; a member that has never started is known by its URL only, and gets a name that no other has.
fn all(node: &str, peer_url: &str, members: &[Member]) -> BTreeMap<String, String> {
    let url = |member: &Member| member.peer_urls.first().cloned().unwrap_or_default();
    let others = members.iter().filter(|member| url(member) != peer_url);
    let name = |member: &Member| match member.name.as_str() {
        "" => format!("{:x}", member.id),
        name => name.to_owned(),
    };
    let named = others.map(|member| (name(member), url(member)));
    named.chain([(node.to_owned(), peer_url.to_owned())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One word per member: its number, then V voter or L learner, * started, + healthy.
    fn members(text: &str) -> (Vec<Member>, Vec<u64>) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let id = |word: &str| u64::from(word.as_bytes()[0] - b'0');
        let member = |word: &&str| {
            let (id, has_started) = (id(word), word.contains('*'));
            Member {
                id,
                name: if has_started || word.contains('V') { format!("m{id}") } else { String::new() },
                peer_urls: vec![format!("https://m{id}:2380")],
                client_urls: has_started.then(|| format!("https://m{id}:2379")).into_iter().collect(),
                is_learner: word.contains('L'),
            }
        };
        let healthy = words.iter().filter(|word| word.contains('+')).map(|word| id(word)).collect();
        (words.iter().map(member).collect(), healthy)
    }

    #[test]
    fn one_at_a_time_and_never_without_a_majority() {
        let cases = [
            "1V*+",
            "1V*+ 3L",
            "1V*+ 2V*+",
            "1V*+ 3V",
            "1V*+ 2V*+ 3V*",
            "1V*+ 2V* 3V*",
            "1V*+ 2V*+ 3L*",
            "1V*+ 2L",
            "1V*+ 2L*+",
            "1V*+ 2V*",
            "1V*+ 2V*+ 3V",
        ];
        let reported = |text: &str| {
            let (members, healthy) = members(text);
            format!("{text}: {:?}", next("m3", "https://m3:2380", &members, &healthy, JoinOrder::OneByOne))
        };
        insta::assert_snapshot!(cases.map(reported).join("\n"));
    }

    #[test]
    fn a_bootstrap_node_may_have_any_number_of_learners() {
        let next = |text: &str| {
            let (members, healthy) = members(text);
            next("m3", "https://m3:2380", &members, &healthy, JoinOrder::Learners)
        };
        assert_eq!(next("9V*+ 2L"), Next::Add);
        assert_eq!(next("9V*+ 2L* 4L"), Next::Add);
        let Next::Start(all) = next("9V*+ 2L 3L 4L* 5L") else { panic!("it is announced") };
        assert_eq!(all.len(), 5, "each has a name of its own: {all:?}");
        assert!(matches!(next("9V*+ 2V*+ 4L"), Next::Wait(_)), "with more than one voter: one by one");
    }
}
