//! What is wanted of a node. Every field has a default: a label alone is enough to start.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the work on a node is done. What each does is the business of the node's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Driver {
    /// An Ignition payload, applied by the machine-config-daemon of `OpenShift`.
    Rhcos,
    /// A payload of bash and Ansible, in two stages.
    Rhel,
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rhcos => "rhcos",
            Self::Rhel => "rhel",
        })
    }
}

/// What is wanted of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NodeUpgradeSpec {
    /// By which driver; by the keys of the Secret where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<Driver>,
    /// The Secret in our namespace, where it is not `ipb-NODE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The plan that made this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// How pods leave the node.
    pub drain: Drain,
    /// For how long all gates must hold.
    pub soak_seconds: Soak,
    /// Whether a node that fails goes back by itself.
    pub rollback: Rollback,
    /// How long each part may take.
    pub deadlines: Deadlines,
}

/// For how long all gates must hold: seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Soak(pub u64);

impl Default for Soak {
    fn default() -> Self {
        Self(5)
    }
}

/// How pods leave the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Drain {
    /// Whether they leave at all.
    pub policy: DrainPolicy,
    /// For how long budgets and pods that end slowly are waited for.
    pub timeout_seconds: u64,
    /// What happens then.
    pub on_timeout: OnTimeout,
}

impl Default for Drain {
    fn default() -> Self {
        Self { policy: DrainPolicy::default(), timeout_seconds: 600, on_timeout: OnTimeout::default() }
    }
}

/// Whether pods leave the node before it is worked on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrainPolicy {
    /// By the Eviction API.
    #[default]
    Evict,
    /// They stay, and go down with the node.
    Never,
}

/// What happens with pods that have not left in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// The node is given back as it was.
    #[default]
    Stop,
    /// They are deleted, whatever their budgets say.
    Delete,
}

/// Whether a node that fails goes back by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rollback {
    /// It does.
    #[default]
    Auto,
    /// It stays as it is, cordoned, for a person to inspect.
    Never,
}

/// How long each part may take, in seconds. Where a node shows progress, the time is counted from the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Deadlines {
    /// All checks of the node.
    pub preflight: u64,
    /// From the order to the commit.
    pub arm: u64,
    /// The work, without any progress.
    pub apply: u64,
    /// From the reboot to Ready.
    pub r#return: u64,
    /// Until all gates hold.
    pub gate: u64,
    /// After its return a node that was not confirmed for so long goes back by itself.
    pub confirm: u64,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { preflight: 300, arm: 300, apply: 3600, r#return: 600, gate: 600, confirm: 1800 }
    }
}
