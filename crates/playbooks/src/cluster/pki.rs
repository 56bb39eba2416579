//! The cluster's certificates, keys and kubeconfigs, on the master that starts it.

use std::path::PathBuf;

use engine::{About, Step, StepError};
use host::{Change, Host};
use pki::{Existing, Input, Shared};
use spec::{BootstrapRole, Node, ValidatedCluster};

use crate::Layout;

/// Everything in `/etc/kubernetes/pki` and the kubeconfigs above it.
pub struct Pki {
    root: PathBuf,
    input: Input,
}

impl Pki {
    /// For this master. Only the first one may make certificate authorities.
    pub fn new(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Self {
        Self { root: layout.kubernetes_dir.clone(), input: input(cluster, node) }
    }
}

/// What the certificates of this master are made from.
pub fn input(cluster: &ValidatedCluster, node: &Node) -> Input {
    let shared = match cluster.bootstrap_role(node) {
        BootstrapRole::MasterFirst => Shared::Make,
        BootstrapRole::MasterAdditional | BootstrapRole::Worker => Shared::Bring,
    };
    Input::new(cluster, node, shared)
}

impl Step for Pki {
    /// The files that are there, and the moment they were read at: what is due depends on it.
    type Seen = (Existing, jiff::Timestamp);

    fn about(&self) -> About {
        About::new("pki", "Create certificates and kubeconfigs", "every component proves with them who it is")
    }

    async fn observe(&self, host: &Host) -> Result<Self::Seen, StepError> {
        Ok((Existing::read(&*host.disk, &self.root)?, host.clock.now()))
    }

    fn plan(&self, (existing, now): &Self::Seen) -> Result<Vec<Change>, StepError> {
        pki::plan(existing, &self.input, *now).map_err(|errors| StepError::from_explained(&errors))
    }
}
