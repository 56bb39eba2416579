//! What a check is.

use std::pin::Pin;

use explain::Code;
use serde::Serialize;
use spec::BootstrapRole;

use crate::{Finding, Inconclusive};

/// A check of one thing, as data and a function of what it is to look at.
pub struct Check<C> {
    /// Stable, kebab-case: what `--skip` takes.
    pub name: &'static str,
    /// What must be true, or is looked at, in one line.
    pub about: &'static str,
    /// The nodes it is for.
    pub roles: Roles,
    /// The time it is for.
    pub when: When,
    /// Every code it can answer with.
    pub codes: &'static [Code],
    pub(crate) run: for<'a> fn(&'a C) -> Checking<'a>,
}

/// A running check. It ends with nothing where all is well.
pub type Checking<'a> = Pin<Box<dyn Future<Output = Result<Vec<Finding>, Inconclusive>> + Send + 'a>>;

impl<C> Check<C> {
    /// A check for every node, at any time.
    pub const fn new(
        name: &'static str,
        about: &'static str,
        codes: &'static [Code],
        run: for<'a> fn(&'a C) -> Checking<'a>,
    ) -> Self {
        Self { name, about, roles: Roles::All, when: When::Always, codes, run }
    }

    /// Only for these nodes.
    #[must_use]
    pub const fn only(mut self, roles: Roles) -> Self {
        self.roles = roles;
        self
    }

    /// Only until the machine passed once.
    #[must_use]
    pub const fn first_time(mut self) -> Self {
        self.when = When::FirstTime;
        self
    }
}

/// The nodes a check is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Roles {
    /// Every node.
    All,
    /// Nodes that run etcd and the control plane: masters, and a bootstrap node until it is retired.
    Masters,
    /// Nodes that only run pods.
    Workers,
}

impl Roles {
    /// Whether a node of that role is among them.
    pub fn include(self, role: BootstrapRole) -> bool {
        let is_worker = role == BootstrapRole::Worker;
        match self {
            Self::All => true,
            Self::Masters => !is_worker,
            Self::Workers => is_worker,
        }
    }
}

/// The time a check is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Every run.
    Always,
    /// Only until the machine passed once. Later the answer would be about ourselves: our own etcd slows the disk down
    /// that is measured, our own files look like a cluster.
    FirstTime,
}
