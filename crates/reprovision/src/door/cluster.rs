//! The pod's own Node: observed, and relieved of one label.

use kubeapi::{
    ApiError, Client,
    k8s_openapi::api::core::v1::Node,
    kube::{
        self, Api, Config,
        api::{Patch, PatchParams},
    },
};
use serde_json::json;
use upgrades::names;

use super::{DoorError, observed::Observed};

pub(super) struct Cluster {
    node: String,
    client: Client,
}

impl Cluster {
    /// By the service account of the pod.
    pub(super) fn new(node: &str) -> Result<Self, DoorError> {
        let unusable = |error: &dyn std::error::Error| DoorError::NoAccount(explain::chain(error));
        let mut config = Config::incluster().map_err(|error| unusable(&error))?;
        config.default_retry = false;
        config.proxy_url = None;
        let client = Client::try_from(config).map_err(|error| unusable(&error))?;
        Ok(Self { node: node.to_owned(), client })
    }

    pub(super) async fn observe(&self) -> Result<Observed, DoorError> {
        let node = self.api().get(&self.node).await.map_err(ApiError::of(format!("see node {}", self.node)))?;
        Ok(Observed::of(&node.metadata))
    }

    /// Of the very Node that was seen: one that was given another order meanwhile keeps its label.
    pub(super) async fn remove_label(&self, observed: &Observed) -> Result<(), DoorError> {
        let metadata = json!({ "resourceVersion": observed.version(), "labels": { names::SCHEDULE_LABEL: null } });
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        match self.api().patch(&self.node, &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            Err(error) => Err(ApiError::of(format!("remove the label of {}", self.node))(error).into()),
            Ok(_) => Ok(()),
        }
    }

    fn api(&self) -> Api<Node> {
        Api::all(self.client.clone())
    }
}
