//! What every check may look at: the machine, what it is to be, and who knows the others.

use std::{path::Path, pin::Pin, sync::Arc};

use host::{Cmd, Host, HostError};
use nodekit::Layout;
use spec::{BootstrapRole, Node, ValidatedCluster};

use crate::Inconclusive;

/// A machine and the node it is, or is to be.
#[derive(Clone)]
pub struct Subject {
    /// The machine.
    pub host: Host,
    /// The cluster it is part of.
    pub cluster: ValidatedCluster,
    /// The node it is.
    pub node: Node,
    /// Where things are.
    pub layout: Layout,
    /// Who knows the other machines.
    pub machine_ids: Arc<dyn MachineIds>,
}

/// Knows which of the cluster's other machines has a machine-id.
pub trait MachineIds: Send + Sync {
    /// The name of another node with this machine-id; `None` if no reachable node has it. `Err` says why none could be
    /// asked.
    fn holder<'a>(&'a self, host: &'a Host, machine_id: &'a str) -> Answer<'a>;
}

/// A future of an answer about another machine.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Option<String>, String>> + Send + 'a>>;

/// Where there is no cluster yet.
pub struct NoPeers;

impl MachineIds for NoPeers {
    fn holder<'a>(&'a self, _host: &'a Host, _machine_id: &'a str) -> Answer<'a> {
        Box::pin(async { Err("no other node can be asked yet".to_owned()) })
    }
}

impl Subject {
    /// What the node is in the bootstrap.
    pub fn role(&self) -> BootstrapRole {
        self.cluster.bootstrap_role(&self.node)
    }

    /// A file's text; `None` if there is no such file.
    pub fn text(&self, path: impl AsRef<Path>) -> Result<Option<String>, HostError> {
        let bytes = self.host.disk.read_optional(path.as_ref())?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The text of a file that must be there.
    pub fn required_text(&self, path: impl AsRef<Path>) -> Result<String, HostError> {
        self.host.disk.read(path.as_ref()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What a command prints, in the language that parsers know.
    pub async fn output<const N: usize>(&self, program: &str, arguments: [&str; N]) -> Result<String, Inconclusive> {
        let command = Cmd::new(program).args(arguments).env("LC_ALL", "C");
        Ok(self.host.commands.run(&command).await?.stdout)
    }
}
