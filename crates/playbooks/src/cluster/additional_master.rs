//! A master that joins a cluster is not supported yet; better said than half done.

use engine::{About, Step, StepError};
use host::{Change, Host};

use crate::codes;

/// Refuses.
pub(super) struct AdditionalMaster;

impl Step for AdditionalMaster {
    type Seen = ();

    fn about(&self) -> About {
        About::new("additional-master", "Join as a master", "etcd and the control plane survive the loss of a machine")
    }

    async fn observe(&self, _host: &Host) -> Result<(), StepError> {
        Err(StepError::new(codes::ADDITIONAL_MASTER, "this version cannot bring a second master into a cluster yet"))
    }

    fn plan(&self, (): &()) -> Result<Vec<Change>, StepError> {
        Ok(Vec::new())
    }
}
