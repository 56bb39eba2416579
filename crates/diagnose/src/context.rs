//! What looks look at. What several of them need is read once, by the first that asks.

use std::{path::Path, sync::Arc};

use engine::{Ledger, LedgerStore, StepId};
use host::Host;
use nodekit::{Layout, checking};
use playbooks::{
    cluster::{self, Options},
    preflight::MachineIds,
};
use spec::{BootstrapRole, Node, ValidatedCluster};
use tokio::sync::OnceCell;

use crate::{
    finding::Inconclusive,
    unit::{Unit, Units},
    view::Views,
};

/// The machine, what it is to be, and what was read so far.
pub struct Context<'a> {
    /// The machine.
    pub host: &'a Host,
    /// Its cluster.
    pub cluster: &'a ValidatedCluster,
    /// Which node it is.
    pub node: &'a Node,
    /// Where things are.
    pub layout: &'a Layout,
    /// Who knows the other machines.
    pub machine_ids: Arc<dyn MachineIds>,
    units: OnceCell<Units>,
    ledger: OnceCell<Ledger>,
    pub(crate) views: Views,
}

impl<'a> Context<'a> {
    /// Nothing is read yet.
    pub fn new(
        host: &'a Host,
        cluster: &'a ValidatedCluster,
        node: &'a Node,
        layout: &'a Layout,
        machine_ids: Arc<dyn MachineIds>,
    ) -> Self {
        Self {
            host,
            cluster,
            node,
            layout,
            machine_ids,
            units: OnceCell::new(),
            ledger: OnceCell::new(),
            views: Views::default(),
        }
    }

    /// What the node is in the bootstrap.
    pub fn role(&self) -> BootstrapRole {
        self.cluster.bootstrap_role(self.node)
    }

    /// Our units as systemd sees them.
    pub(crate) async fn units(&self) -> Result<&Units, Inconclusive> {
        self.units.get_or_try_init(async || Units::read(self.host).await).await
    }

    /// What was done on this machine.
    pub(crate) async fn ledger(&self) -> Result<&Ledger, Inconclusive> {
        let read = async || {
            let opened = LedgerStore::new(&self.layout.state_dir).open(&*self.host.disk);
            opened.map(|opened| opened.ledger).map_err(|error| Inconclusive(explain::chain(&error)))
        };
        self.ledger.get_or_try_init(read).await
    }

    /// Whether a step of the bootstrap was once seen to have kept its promise. What never was, is not broken.
    pub(crate) async fn was_done(&self, step: StepId) -> Result<bool, Inconclusive> {
        let key = Ledger::key(cluster::NAME, step.as_str());
        Ok(self.ledger().await?.steps.get(&key).is_some_and(|record| record.verified.is_some()))
    }

    /// The services that were started on this node, each as it should be and as systemd sees it.
    pub(crate) async fn started_services(&self) -> Result<Vec<(render::Service, Unit)>, Inconclusive> {
        let options = Options::read(self.host).map_err(|error| Inconclusive(explain::chain(&error)))?;
        let mut started = Vec::new();
        for service in cluster::services(self.cluster, self.node, self.layout, &options) {
            let Some(step) = cluster::step_of(service.name) else { continue };
            if self.was_done(step).await? {
                let unit = self.units().await?.get(service.name);
                started.push((service, unit));
            }
        }
        Ok(started)
    }

    /// A file's text; `None` if there is no such file.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Result<Option<String>, Inconclusive> {
        Ok(checking::text(self.host, path.as_ref())?)
    }

    /// What a command prints, in the language that parsers know.
    pub(crate) async fn output<const N: usize>(
        &self,
        program: &str,
        arguments: [&str; N],
    ) -> Result<String, Inconclusive> {
        checking::output(self.host, program, arguments).await
    }
}
