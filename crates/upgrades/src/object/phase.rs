//! How far a node is, as the cluster sees it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far a node is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// It waits for its Secret, for a slot, for other nodes.
    #[default]
    Pending,
    /// Its labels, taints and cordon are noted, and it is being cordoned.
    Cordoned,
    /// It checks whether the work can be done.
    Preflight,
    /// Its pods leave it.
    Draining,
    /// It is ready to begin; the removal of its label is the commit.
    Armed,
    /// It works.
    Applying,
    /// It reboots.
    Rebooting,
    /// It is back; the cluster is watched before it counts.
    Gating,
    /// Labels, taints and cordon come back.
    Restoring,
    /// It goes back to what it was.
    RollingBack,
    /// All was done.
    Done,
    /// Nothing was changed on it.
    Refused,
    /// It is what it was before.
    RolledBack,
    /// It could not go back, and is left to a person.
    Stuck,
}

impl Phase {
    /// All there are.
    pub const ALL: [Self; 14] = [
        Self::Pending,
        Self::Cordoned,
        Self::Preflight,
        Self::Draining,
        Self::Armed,
        Self::Applying,
        Self::Rebooting,
        Self::Gating,
        Self::Restoring,
        Self::RollingBack,
        Self::Done,
        Self::Refused,
        Self::RolledBack,
        Self::Stuck,
    ];

    /// Whether nothing more happens by itself.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Done | Self::Refused | Self::RolledBack | Self::Stuck)
    }

    /// Whether the node is taken away from the cluster in this phase, whatever came before it.
    pub(super) const fn holds_slot(self) -> bool {
        !matches!(self, Self::Pending | Self::Done | Self::Refused | Self::RolledBack)
    }

    /// Whether the node has begun to change itself.
    pub const fn is_committed(self) -> bool {
        matches!(self, Self::Applying | Self::Rebooting | Self::Gating | Self::RollingBack)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}
