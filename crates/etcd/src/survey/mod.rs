//! How etcd is doing as a whole, seen from one machine.
//!
//! [`ask`] asks everybody at once who should be a member, and then the members that the answers name besides. [`Survey::of`] makes
//! of what was heard, and of what was not, one row per member. It needs no majority and no answer at all: silence is
//! something that was seen, too.

mod agreed;
mod ask;
mod evaluate;

pub use agreed::Agreed;
pub use ask::{Heard, Reported, ask, ask_majority};
use serde::Serialize;

use crate::{Member, quorum::Votes};

/// What was seen of etcd.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survey {
    /// One row per member and per master that should be one.
    pub members: Vec<Row>,
    /// True if a majority works: what is asked is answered, what is written is kept.
    pub has_majority: bool,
    /// Members with a vote, as far as any member answered.
    pub voters: usize,
    /// Those of them that are healthy.
    pub healthy: usize,
}

impl Survey {
    /// The votes, for the arithmetic.
    pub fn votes(&self) -> Votes {
        Votes { voters: self.voters, healthy: self.healthy }
    }

    /// True if there is nothing to complain about.
    pub fn is_well(&self) -> bool {
        self.has_majority && self.members.iter().all(|row| row.health == Health::Healthy)
    }
}

/// A member, or a master that should be one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its number in hex, as etcd's own tools show it; `None` if it is no member.
    pub id: Option<String>,
    /// Its name.
    pub name: String,
    /// Where it was asked.
    pub url: Option<String>,
    /// Where the other members reach it; empty if it is no member.
    pub peer_urls: Vec<String>,
    /// What it is.
    pub role: Role,
    /// How it is.
    pub health: Health,
    /// What it says of itself, if it answers.
    pub reported: Option<Figures>,
    /// What is wrong, one sentence each.
    pub problems: Vec<String>,
}

/// What a member says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// etcd's version.
    pub version: String,
    /// Size of its database in bytes.
    pub db_size: u64,
    /// How far its log is.
    pub raft_index: u64,
    /// Since how many elections.
    pub raft_term: u64,
    /// The newest revision it has.
    pub revision: u64,
}

/// What a member is to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Every write goes through it.
    Leader,
    /// Has a vote.
    Voter,
    /// Follows without a vote, until it has caught up.
    Learner,
    /// A master that is no member.
    None,
}

/// How a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// It answers and has nothing to complain about.
    Healthy,
    /// It answers, and something is wrong.
    Ailing,
    /// It does not answer.
    Silent,
    /// It was announced and has never been there.
    NotStarted,
    /// It should be a member and is none.
    NotAMember,
}

impl Survey {
    /// What this comes to. Pure.
    pub fn of(heard: &[Heard]) -> Self {
        evaluate::evaluate(heard)
    }
}

/// The members as most know them: from a majority if there is one, else from the member that is furthest.
pub(crate) fn best_list(heard: &[Heard]) -> Option<(&[Member], bool)> {
    let reported = || heard.iter().filter_map(|one| one.reported.as_ref().ok());
    let agreed = reported().find_map(|reported| reported.agreed.as_deref());
    let furthest = || {
        reported()
            .filter(|reported| !reported.known.is_empty())
            .max_by_key(|reported| (reported.status.raft_term, reported.status.raft_index))
    };
    agreed.map(|members| (members, true)).or_else(|| furthest().map(|reported| (reported.known.as_slice(), false)))
}
