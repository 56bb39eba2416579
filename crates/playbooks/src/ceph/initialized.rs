//! That Ceph has been initialized is known to the cluster, so that it is never bootstrapped a second time.

use std::sync::Arc;

use ::ceph::paths;
use engine::{About, Act, Planned, Stays, Step, StepError};
use host::Host;

use super::{ids, source::Source};

/// Noted in the Secret of Ceph's identity, once there has been a quorum.
pub(crate) struct Initialized {
    source: Arc<Source>,
}

impl Initialized {
    pub(crate) fn new(source: &Arc<Source>) -> Self {
        Self { source: source.clone() }
    }
}

impl Step for Initialized {
    /// Whether it is noted, or there is nothing to note it for.
    type Seen = bool;
    type Undo = Stays;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(
            ids::INITIALIZED,
            "Note that Ceph is initialized",
            "a monitor that loses its disk must join, not bootstrap",
        )
    }

    async fn observe(&self, host: &Host) -> Result<bool, StepError> {
        if paths::own_fsid(&*host.disk)?.is_none() {
            return Ok(true);
        }
        Ok(self.source.handed(host).await?.is_initialized)
    }

    fn plan(&self, is_noted: &bool) -> Result<Vec<Planned>, StepError> {
        let note = || Planned::act("note", format!("note in {} that Ceph is initialized", self.source.described()));
        Ok((!is_noted).then(note).into_iter().collect())
    }

    async fn act(&self, _act: &Act, host: &Host) -> Result<(), StepError> {
        self.source.initialized(host).await.map(drop)
    }
}
