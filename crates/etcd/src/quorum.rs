//! Counting votes. Pure; whether a change may be made by them is `operations::quorum`.

use std::fmt;

use explain::counted;

use crate::Member;

/// The voters that there are and those of them that work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Votes {
    /// Members with a vote.
    pub voters: usize,
    /// Those of them that answer.
    pub healthy: usize,
}

impl Votes {
    /// Counts the voters among the members; `is_healthy` says of a member's number whether it answers.
    pub fn count(members: &[Member], is_healthy: impl Fn(u64) -> bool) -> Self {
        let voters = members.iter().filter(|member| !member.is_learner);
        let healthy = voters.clone().filter(|member| is_healthy(member.id)).count();
        Self { voters: voters.count(), healthy }
    }

    /// How many must agree.
    pub fn majority(self) -> usize {
        self.voters / 2 + 1
    }

    /// How many more may fail before nothing can be written any more.
    pub fn spare(self) -> usize {
        self.healthy.saturating_sub(self.majority())
    }

    /// Whether those that answer can decide.
    pub fn has_majority(self) -> bool {
        self.healthy >= self.majority()
    }
}

impl fmt::Display for Votes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { voters, healthy } = self;
        write!(f, "{healthy} of {} healthy, {} needed", counted(*voters, "voter"), self.majority())
    }
}
