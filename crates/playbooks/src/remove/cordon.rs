//! Nothing new is placed on the node.

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;
use operations::cordon;

use super::{Target, ids};
use crate::access;

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
        Ok(node.is_some_and(|node| !cordon::is_cordoned(&node)))
    }

    fn plan(&self, is_open: &bool) -> Result<Vec<Planned>, StepError> {
        let what = format!("cordon {}", self.target.name);
        Ok(is_open.then(|| Planned::act("cordon", what)).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let client = self.target.api.required(host).await?;
        cordon::cordon(&client, &self.target.name).await.map_err(|error| access::failed(&error))
    }
}
