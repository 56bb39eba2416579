//! The first thing that is reported of the cluster: it waits for its masters. The operator goes on from there, once one of
//! them can run it; what it has reported is left alone.

use std::sync::Arc;

use engine::{About, Act, Planned, Stays, Step, StepError};
use explain::counted;
use host::Host;
use operators::{Object, Seen, statuses};
use serde_json::Value;
use spec::ValidatedCluster;

use super::super::ids::CLUSTER_OPERATORS;
use crate::access::{self, Access};

const ACT: &str = "write";

/// Writes what is not there yet.
pub(super) struct ClusterOperators {
    masters: usize,
    access: Arc<Access>,
}

impl ClusterOperators {
    pub(super) fn new(cluster: &ValidatedCluster, access: &Arc<Access>) -> Self {
        Self { masters: cluster.masters().count(), access: access.clone() }
    }
}

impl Step for ClusterOperators {
    /// Those that report nothing yet.
    type Seen = Vec<Object>;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(
            CLUSTER_OPERATORS,
            "Write the first ClusterOperators",
            "they are degraded until masters do the work of this machine",
        )
    }

    async fn observe(&self, host: &Host) -> Result<Vec<Object>, StepError> {
        let Some(client) = self.access.client(host).await? else { return Ok(Object::all().collect()) };
        operators::unreported(&client).await.map_err(|error| access::failed(&error))
    }

    fn plan(&self, unreported: &Vec<Object>) -> Result<Vec<Planned>, StepError> {
        let write = || Planned::act(ACT, format!("write {}", counted(unreported.len(), "object")));
        Ok((!unreported.is_empty()).then(write).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        let client = self.access.required(host).await?;
        let unreported = operators::unreported(&client).await.map_err(|error| access::failed(&error))?;
        for (object, status) in statuses(&Seen::nothing(self.masters), |_| Value::Null, host.clock.now()) {
            if unreported.contains(&object) {
                operators::write(&client, object, &status).await.map_err(|error| access::failed(&error))?;
            }
        }
        Ok(())
    }
}
