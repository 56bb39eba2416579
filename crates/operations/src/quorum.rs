//! The guard of etcd's majority. Pure: no change is made that could leave etcd without one, and a refusal shows why.

use etcd::{Member, codes, quorum::Votes};
use explain::{Code, Explain};

/// A change of membership, or of who is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// One more member, without a vote at first.
    Add,
    /// A learner gets its vote.
    Promote(u64),
    /// A member goes.
    Remove(u64),
    /// A member goes for a moment.
    Restart(u64),
}

/// Why a change is not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is refused: {why}")]
pub struct Unsafe {
    what: String,
    why: String,
}

impl Explain for Unsafe {
    fn code(&self) -> Code {
        codes::QUORUM
    }
}

/// Whether a change leaves etcd with a majority that works, now and while the change is being made.
pub fn allow(change: Change, members: &[Member], is_healthy: impl Fn(u64) -> bool) -> Result<(), Unsafe> {
    let before = Votes::count(members, &is_healthy);
    let name = |id: u64| {
        let known = members.iter().find(|member| member.id == id);
        known.map_or_else(|| format!("{id:x}"), |member| format!("{} ({id:x})", member.name))
    };
    let (what, after) = match change {
        Change::Add => ("adding a member".to_owned(), before),
        Change::Promote(id) => {
            let healthy = before.healthy + usize::from(is_healthy(id));
            (format!("giving {} a vote", name(id)), Votes { voters: before.voters + 1, healthy })
        }
        Change::Remove(id) => {
            let left: Vec<Member> = members.iter().filter(|member| member.id != id).cloned().collect();
            (format!("removing {}", name(id)), Votes::count(&left, &is_healthy))
        }
        Change::Restart(id) => {
            let left = Votes::count(members, |other| other != id && is_healthy(other));
            // One that does not count is not missed; and of one or two, none can ever be: so long as all are there, one
            // may go for a moment.
            if left == before || before.voters <= 2 && before.healthy == before.voters {
                return Ok(());
            }
            (format!("restarting {}", name(id)), left)
        }
    };
    let refuse = |why: String| Err(Unsafe { what: what.clone(), why });
    if !before.has_majority() {
        return refuse(format!("there is no majority now ({before})"));
    }
    if after.voters == 0 {
        return refuse("it is the last member, and everything the cluster knows is in it".to_owned());
    }
    if !after.has_majority() {
        return refuse(format!("there would be no majority any more ({after})"));
    }
    // With one voter, nothing is lost by learners, however many there are.
    if change == Change::Add && before.voters > 1 && members.iter().any(|member| member.is_learner) {
        return refuse("another member is about to join; one at a time".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(change: Change, members: &str) -> String {
        // One letter per member: V healthy voter, v dead voter, L healthy learner, l dead one; numbered from 1.
        let parsed: Vec<Member> = (1u64..)
            .zip(members.chars())
            .map(|(id, letter)| Member {
                id,
                name: format!("m{id}"),
                peer_urls: Vec::new(),
                client_urls: Vec::new(),
                is_learner: letter.eq_ignore_ascii_case(&'l'),
            })
            .collect();
        let alive: Vec<bool> = members.chars().map(char::is_uppercase).collect();
        let is_healthy = |id: u64| usize::try_from(id - 1).ok().and_then(|at| alive.get(at)).copied().unwrap_or(false);
        match allow(change, &parsed, is_healthy) {
            Ok(()) => "allowed".to_owned(),
            Err(refused) => refused.to_string(),
        }
    }

    #[test]
    fn no_change_may_lose_the_majority() {
        let cases = [
            (Change::Add, "V"),
            (Change::Add, "VVv"),
            (Change::Add, "Vvv"),
            (Change::Add, "VVL"),
            (Change::Promote(2), "VL"),
            (Change::Promote(2), "Vl"),
            (Change::Promote(4), "VVvL"),
            (Change::Promote(4), "VVvl"),
            (Change::Remove(3), "VVv"),
            (Change::Remove(1), "VVv"),
            (Change::Remove(1), "VVV"),
            (Change::Remove(2), "Vv"),
            (Change::Remove(1), "V"),
            (Change::Remove(4), "VVVl"),
            (Change::Remove(2), "VV"),
            (Change::Restart(1), "V"),
            (Change::Restart(1), "VV"),
            (Change::Restart(1), "Vv"),
            (Change::Restart(2), "Vv"),
            (Change::Restart(1), "VVV"),
            (Change::Restart(1), "VVv"),
            (Change::Restart(3), "VVv"),
            (Change::Restart(3), "VVL"),
            (Change::Restart(1), "VVVv"),
            (Change::Restart(1), "VVVVv"),
        ];
        let text: Vec<String> = cases
            .iter()
            .map(|(change, members)| format!("{members:5} {change:?}: {}", reported(*change, members)))
            .collect();
        insta::assert_snapshot!(text.join("\n"));
    }
}
