//! What a check is.

use std::pin::Pin;

use explain::Code;
use serde::Serialize;
use spec::BootstrapRole;

use crate::{Context, Finding, finding::Inconclusive};

/// A check of one thing that commonly breaks, as data and a function.
#[derive(Clone, Copy)]
pub struct Check {
    /// Stable, kebab-case.
    pub name: &'static str,
    /// What is looked at, in one line.
    pub about: &'static str,
    /// Every code it can answer with.
    pub codes: &'static [Code],
    /// The nodes it is for.
    pub roles: Roles,
    pub(crate) run: for<'a> fn(&'a Context<'a>) -> Checking<'a>,
}

/// A running check. It ends with nothing where all is well.
pub(crate) type Checking<'a> = Pin<Box<dyn Future<Output = Result<Vec<Finding>, Inconclusive>> + Send + 'a>>;

/// The nodes a check is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Roles {
    /// Every node.
    All,
    /// Nodes that run etcd and the control plane.
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
            Self::Masters => role.is_master(),
            Self::Workers => is_worker,
        }
    }
}
