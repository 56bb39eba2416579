//! What checks look at: the machine, what it is to become, and whom to ask about the others.

use std::path::Path;

use engine::{Ledger, LedgerError, LedgerStore};
use host::{Disk, Host, HostError};
use spec::{BootstrapRole, Node, ValidatedCluster};

use super::check::Inconclusive;
use crate::cluster;
use nodekit::{Layout, checking};

/// Everything a check may look at.
pub struct Context<'a> {
    /// The machine.
    pub host: &'a Host,
    /// The cluster it is to be part of.
    pub cluster: &'a ValidatedCluster,
    /// The node it is to be.
    pub node: &'a Node,
    /// Where things are.
    pub layout: &'a Layout,
    /// How far the machine is.
    pub stage: Stage,
    /// Who knows the other machines.
    pub machine_ids: &'a dyn MachineIds,
}

/// How far a machine is on its way into the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It has never passed the checks.
    Untouched,
    /// It passed them and what follows has begun: what is found may be our own work.
    Begun,
}

impl Stage {
    /// As the machine's ledger says: undoing a bootstrap undoes the record, too.
    pub fn read(disk: &dyn Disk, layout: &Layout) -> Result<Self, LedgerError> {
        let ledger = LedgerStore::new(&layout.state_dir).open(disk)?.ledger;
        let passed = ledger.is_verified(&Ledger::key(cluster::NAME, cluster::ids::PREFLIGHT.as_str()));
        Ok(if passed { Self::Begun } else { Self::Untouched })
    }
}

/// Knows which of the cluster's other machines has a machine-id.
pub trait MachineIds: Send + Sync {
    /// The name of another node with this machine-id; `None` if no reachable node has it. `Err` says why nobody could
    /// be asked.
    fn holder<'a>(&'a self, host: &'a Host, machine_id: &'a str) -> Answer<'a>;
}

/// A future of an answer about another machine.
pub type Answer<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Option<String>, String>> + Send + 'a>>;

/// Where there is no cluster yet.
pub struct NoPeers;

impl MachineIds for NoPeers {
    fn holder<'a>(&'a self, _host: &'a Host, _machine_id: &'a str) -> Answer<'a> {
        Box::pin(async { Err("no other node can be asked yet".to_owned()) })
    }
}

impl Context<'_> {
    /// What the node is in the bootstrap.
    pub fn role(&self) -> BootstrapRole {
        self.cluster.bootstrap_role(self.node)
    }

    /// A file's text.
    pub(super) fn text(&self, path: impl AsRef<Path>) -> Result<String, HostError> {
        self.host.disk.read(path.as_ref()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A file's text; `None` if there is no such file.
    pub(super) fn text_if_any(&self, path: impl AsRef<Path>) -> Result<Option<String>, HostError> {
        checking::text(self.host, path.as_ref())
    }

    /// What a command prints, in the language that parsers know.
    pub(super) async fn output<const N: usize>(
        &self,
        program: &str,
        arguments: [&str; N],
    ) -> Result<String, Inconclusive> {
        checking::output(self.host, program, arguments).await
    }
}
