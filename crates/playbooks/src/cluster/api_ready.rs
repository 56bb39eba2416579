//! The API server on this node reports that it is ready.

use engine::{About, FilesOnly, Step, StepError, Verdict};
use host::Host;
use spec::{Node, ValidatedCluster};

use super::ids;
use crate::service::{Health, Probe};

/// The API server of a master.
pub(super) fn api_url(cluster: &ValidatedCluster, master: &Node) -> String {
    format!("https://{}", std::net::SocketAddr::new(master.ip, cluster.api().port))
}

/// Waits for `/readyz`, asked over TLS with the cluster's own CA.
pub(super) struct ApiReady {
    probe: Probe,
}

impl ApiReady {
    pub(super) fn new(probe: Probe) -> Self {
        Self { probe }
    }
}

impl Step for ApiReady {
    type Seen = Health;
    type Undo = FilesOnly;
    const ONLY_LIVE: bool = true;

    fn about(&self) -> About {
        About::new(ids::API_READY, "Wait for the API server to be ready", "everything after this asks it for something")
    }

    async fn observe(&self, host: &Host) -> Result<Health, StepError> {
        self.probe.check(host).await
    }

    fn verify(&self, seen: &Health) -> Verdict {
        match seen {
            Health::Good | Health::Unknown => Verdict::Met,
            Health::NotYet { what, progress } => Verdict::Waiting { what: what.clone(), progress: progress.clone() },
        }
    }
}
