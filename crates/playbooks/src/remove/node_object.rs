//! The Node object goes. Pods that are still bound to it are then removed by Kubernetes itself.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;
use kubeapi::{
    k8s_openapi::api::core::v1::Node as ApiNode,
    kube::{Api, api::DeleteParams},
};

use super::{Target, gone, ids};

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
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::NODE_OBJECT, "Delete the Node", "the cluster must not wait for a node that does not come back")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        Ok(self.target.node(host).await?.is_some())
    }

    fn plan(&self, is_there: &bool) -> Result<Vec<Planned>, StepError> {
        let what = format!("delete the Node {}", self.target.name);
        Ok(is_there.then(|| Planned::act("delete", what)).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let (name, client) = (&self.target.name, self.target.api.required(host).await?);
        let deleted = Api::<ApiNode>::all(client).delete(name, &DeleteParams::default()).await;
        gone(deleted, format!("delete Node {name}"))
    }
}
