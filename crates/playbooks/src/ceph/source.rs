//! Where a node gets its part of Ceph's identity from: a master from the API, every other node from a join service.
//!
//! Asked each time: whether Ceph is initialized can change between two questions, and decides what a monitor may do.

use std::sync::Arc;

use ::ceph::{Fsid, Handed, Identity, NoIdentity, SECRET, paths};
use engine::StepError;
use host::Host;
use join::wire::ClaimedRole;
use kubeapi::ReconcileError;
use spec::{Node, Role, ValidatedCluster};

use crate::{
    access::{self, Access},
    membership::{self, Membership},
};

/// Whom a node asks.
pub(crate) struct Source {
    cluster: ValidatedCluster,
    node: Node,
    access: Arc<Access>,
    membership: Arc<Membership>,
}

impl Source {
    pub(crate) fn new(
        cluster: &ValidatedCluster,
        node: &Node,
        access: &Arc<Access>,
        membership: &Arc<Membership>,
    ) -> Self {
        Self { cluster: cluster.clone(), node: node.clone(), access: access.clone(), membership: membership.clone() }
    }

    /// In words, for a dry run.
    pub(super) fn described(&self) -> String {
        if self.node.has(Role::Master) {
            let (namespace, name) = SECRET;
            return format!("Secret {namespace}/{name}");
        }
        let masters: Vec<String> = self.membership.masters.iter().map(ToString::to_string).collect();
        masters.join(", ")
    }

    /// What this node is to have.
    pub(super) async fn handed(&self, host: &Host) -> Result<Handed, StepError> {
        self.ask(host, false).await
    }

    /// The same, after noting that there has been a quorum.
    pub(super) async fn initialized(&self, host: &Host) -> Result<Handed, StepError> {
        self.ask(host, true).await
    }

    async fn ask(&self, host: &Host, is_initialized: bool) -> Result<Handed, StepError> {
        let own = paths::own_fsid(&*host.disk)?;
        let handed = self.receive(host, own.as_ref(), is_initialized).await?;
        match own.filter(|own| *own != handed.fsid) {
            Some(own) => Err(StepError::from_explained(&NoIdentity::Other { named: handed.fsid, own })),
            None => Ok(handed),
        }
    }

    async fn receive(&self, host: &Host, own: Option<&Fsid>, is_initialized: bool) -> Result<Handed, StepError> {
        if self.node.has(Role::Master) {
            self.read_api(host, own, is_initialized).await
        } else {
            let (applicant, trust) = self.membership.applicant(&*host.disk, ClaimedRole::Worker)?;
            let answered = self.membership.client(trust).await.ceph_keys(&applicant, is_initialized).await;
            answered.map(|(_, handed)| handed).map_err(|error| membership::failed(&error))
        }
    }

    /// A machine that belongs to a cluster already never makes another one: what is missing then was lost.
    async fn read_api(&self, host: &Host, own: Option<&Fsid>, is_initialized: bool) -> Result<Handed, StepError> {
        let client = self.access.required(host).await?;
        let change = |held: Option<&_>| match (held, own) {
            (None, Some(own)) => Err(NoIdentity::Gone(own.clone())),
            _ => Identity::wanted(held, &self.cluster, is_initialized, host.clock.now()),
        };
        let data = kubeapi::reconcile_secret(&client, SECRET, change).await.map_err(|error| match error {
            ReconcileError::Api(error) => access::failed(&error),
            ReconcileError::Content(error) => StepError::from_explained(&error),
        })?;
        let identity = Identity::read(&data).map_err(|error| StepError::from_explained(&error))?;
        let no_role = || join::Refusal::NoCephRole { node: self.node.name.clone() };
        identity.for_node(&self.node).ok_or_else(|| StepError::from_explained(&no_role()))
    }
}
