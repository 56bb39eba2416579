//! The Node object goes. Pods that are still bound to it are then removed by Kubernetes itself.

use engine::{About, Step, StepError};
use host::{Change, Host};
use kubeapi::{
    k8s_openapi::api::core::v1::Node as ApiNode,
    kube::{Api, api::DeleteParams},
};

use super::{Target, gone};

/// Deletes the Node object.
pub(super) struct NodeObject {
    target: Target,
}

impl NodeObject {
    pub(super) fn new(target: &Target) -> Self {
        Self { target: target.clone() }
    }
}

impl Step for NodeObject {
    /// Whether there is one.
    type Seen = bool;

    fn about(&self) -> About {
        About::new("node-object", "Delete the Node", "the cluster must not wait for a node that does not come back")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(self.target.node(host).await?.is_some())
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Change>, StepError> {
        let what = format!("delete the Node {}", self.target.name);
        Ok(is_there.then(|| Change::Act { key: "delete".into(), what }).into_iter().collect())
    }

    async fn apply(&self, _change: &Change, host: &Host) -> Result<(), StepError> {
        let (name, client) = (&self.target.name, self.target.api.required(host).await?);
        let deleted = Api::<ApiNode>::all(client).delete(name, &DeleteParams::default()).await;
        gone(deleted, format!("delete Node {name}"))
    }
}
