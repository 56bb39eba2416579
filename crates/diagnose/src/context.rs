//! What checks look at. What several of them need is read once, by the first that asks.

use std::ops::Deref;

use checks::Subject;
use engine::{Ledger, LedgerStore, StepId};
use nodekit::systemd::Unit;
use playbooks::cluster::{self, Options};
use tokio::sync::OnceCell;

use crate::{Inconclusive, unit::Units, view::Views};

/// The machine, what it is to be, and what was read so far.
pub struct Context {
    subject: Subject,
    units: OnceCell<Units>,
    ledger: OnceCell<Ledger>,
    pub(crate) views: Views,
}

impl Deref for Context {
    type Target = Subject;

    fn deref(&self) -> &Subject {
        &self.subject
    }
}

impl Context {
    /// Nothing is read yet.
    pub fn new(subject: Subject) -> Self {
        Self { subject, units: OnceCell::new(), ledger: OnceCell::new(), views: Views::default() }
    }

    /// Our units as systemd sees them.
    pub(crate) async fn units(&self) -> Result<&Units, Inconclusive> {
        self.units.get_or_try_init(async || Units::read(&self.host).await).await
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
        let options = Options::read(&self.host).map_err(|error| Inconclusive(explain::chain(&error)))?;
        let mut started = Vec::new();
        for service in cluster::services(&self.cluster, &self.node, &self.layout, &options) {
            let Some(step) = cluster::step_of(service.name) else { continue };
            if self.was_done(step).await? {
                let unit = self.units().await?.get(service.name);
                started.push((service, unit));
            }
        }
        Ok(started)
    }
}
