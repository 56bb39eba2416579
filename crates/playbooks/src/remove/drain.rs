//! The node's pods leave it: see [`operations::drain`].

use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;
use operations::drain::{Drain as Operation, DrainError, Seen};

use super::{Target, ids};
use crate::access;

/// Evicts the node's pods.
pub(super) struct Drain {
    pub(super) target: Target,
    pub(super) operation: Operation,
}

fn failed(error: DrainError) -> StepError {
    match error {
        DrainError::Api(error) => access::failed(&error),
        DrainError::Refused(code, message) => StepError::new(code, message),
    }
}

impl Step for Drain {
    type Seen = Seen;
    type Undo = Stays;

    fn about(&self) -> About {
        About::new(ids::DRAIN, "Evict its pods", "what runs on it is started elsewhere, as its owners allow")
    }

    async fn observe(&self, host: &Host) -> Result<Seen, StepError> {
        self.operation.check(&self.target.api.required(host).await?).await.map_err(failed)
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Planned>, StepError> {
        let key = if seen.silence.is_none() { "evict" } else { "delete" };
        let what = self.operation.plan(seen).map_err(failed)?;
        Ok(what.map(|what| Planned::act(key, what)).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let client = self.target.api.required(host).await?;
        self.operation.run(&client, |left| host.doing(left)).await.map_err(failed)
    }
}
