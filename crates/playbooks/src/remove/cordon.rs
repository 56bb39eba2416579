//! Nothing new is placed on the node.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;
use kubeapi::{
    k8s_openapi::api::core::v1::Node as ApiNode,
    kube::{
        Api,
        api::{Patch, PatchParams},
    },
};
use serde_json::json;

use super::{Target, gone, ids};

/// Marks the node as unschedulable, as `kubectl cordon` does.
pub(super) struct Cordon {
    target: Target,
}

impl Cordon {
    pub(super) fn new(target: &Target) -> Self {
        Self { target: target.clone() }
    }
}

impl Step for Cordon {
    /// Whether pods may still be placed on it.
    type Seen = bool;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::CORDON, "Cordon the node", "pods that leave it must not come back to it")
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        let node = self.target.node(host).await?;
        Ok(node.is_some_and(|node| node.spec.is_none_or(|spec| spec.unschedulable != Some(true))))
    }

    fn plan(&self, is_open: &bool) -> Result<Vec<Planned>, StepError> {
        let what = format!("cordon {}", self.target.name);
        Ok(is_open.then(|| Planned::act("cordon", what)).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let (name, client) = (&self.target.name, self.target.api.required(host).await?);
        let patch = Patch::Merge(json!({ "spec": { "unschedulable": true } }));
        let patched = Api::<ApiNode>::all(client).patch(name, &PatchParams::default(), &patch).await;
        gone(patched, format!("cordon {name}"))
    }
}
