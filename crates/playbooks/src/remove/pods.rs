//! The pods of a dead node go at once. Kubernetes would wait for a kubelet that does not come back.

use engine::{About, Act, Planned, Stays, Step, StepError};
use explain::counted;
use host::Host;

use super::{Target, ids};
use crate::node_pods;

/// Deletes them.
pub(super) struct Pods {
    target: Target,
}

impl Pods {
    pub(super) fn new(target: &Target) -> Self {
        Self { target: target.clone() }
    }
}

impl Step for Pods {
    /// How many there are.
    type Seen = usize;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::PODS, "Delete its pods", "what the API shows of them has no process behind it")
    }

    async fn observe(&self, host: &Host) -> Result<usize, StepError> {
        Ok(node_pods::bound(&self.target.api.required(host).await?, &self.target.name).await?.len())
    }

    fn plan(&self, pods: &usize) -> Result<Vec<Planned>, StepError> {
        let what = format!("delete {} of {}", counted(*pods, "pod"), self.target.name);
        Ok((*pods > 0).then(|| Planned::act("delete", what)).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        node_pods::delete(&self.target.api.required(host).await?, &self.target.name).await
    }
}
