//! The cluster's certificates, keys and kubeconfigs, on the master that starts it.

use std::path::PathBuf;

use engine::{About, FilesOnly, Step, StepError};
use host::{Change, Host};
use pki::{Existing, Input, Shared};
use spec::{Node, ValidatedCluster};

use super::ids;
use nodekit::Layout;

/// Everything in `/etc/kubernetes/pki` and the kubeconfigs above it.
pub struct Pki {
    root: PathBuf,
    /// There where the CAs were made before any node was.
    sealed: PathBuf,
    input: Input,
}

/// What was found.
pub struct Seen {
    existing: Existing,
    is_sealed: bool,
    /// What is due depends on the moment.
    now: jiff::Timestamp,
}

impl Pki {
    /// For this master. Only the one that starts the cluster may make CAs.
    pub fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        Self {
            root: layout.kubernetes_dir.clone(),
            sealed: layout.config_dir.join(join::seal::layout::PKI),
            input: Input::for_node(cluster, node),
        }
    }
}

impl Step for Pki {
    type Seen = Seen;
    type Undo = FilesOnly;

    fn about(&self) -> About {
        About::new(ids::PKI, "Create certificates and kubeconfigs", "every component authenticates with them")
    }

    async fn observe(&self, host: &Host) -> Result<Self::Seen, StepError> {
        Ok(Seen {
            existing: Existing::read(&*host.disk, &self.root)?,
            is_sealed: host.disk.exists(&self.sealed)?,
            now: host.clock.now(),
        })
    }

    fn plan(&self, seen: &Seen) -> Result<Vec<Change>, StepError> {
        // Nodes were given the pin of the sealed CAs: others made here would lock them out.
        let shared = if seen.is_sealed { Shared::Bring } else { self.input.shared };
        let input = Input { shared, ..self.input.clone() };
        pki::plan(&seen.existing, &input, seen.now).map_err(|errors| StepError::from_explained(&errors))
    }
}
