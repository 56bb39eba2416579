//! Ceph's identity, as the join service asks for it: a Secret in the API, made by the master that needs it first.

use std::sync::Arc;

use ceph::{Identity, NoIdentity};
use host::Clock;
use join::server::{CephKeys, Identified};
use kube::Client;
use kubeapi::ReconcileError;
use spec::ValidatedCluster;
use tokio::sync::watch;

/// Where the identity is.
pub(super) struct InTheApi {
    /// The API, as soon as there is a way to it.
    pub(super) client: watch::Receiver<Option<Client>>,
    pub(super) clock: Arc<dyn Clock>,
}

impl CephKeys for InTheApi {
    fn identity<'a>(&'a self, cluster: &'a ValidatedCluster, is_initialized: bool) -> Identified<'a> {
        Box::pin(async move {
            let client = self.client.borrow().clone().ok_or_else(|| "the cluster's API is not ready yet".to_owned())?;
            let change = |held: Option<&_>| Identity::wanted(held, cluster, is_initialized, self.clock.now());
            let data = kubeapi::reconcile_secret(&client, ceph::SECRET, change).await;
            let why = |error: ReconcileError<NoIdentity>| explain::chain(&error);
            Identity::read(&data.map_err(why)?).map_err(|error| explain::chain(&error))
        })
    }
}
