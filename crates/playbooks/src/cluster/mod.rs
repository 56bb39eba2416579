//! The `cluster` playbook: from a machine with a `cluster.yaml` to a node of the cluster.
//!
//! What a node does depends on its role in the bootstrap: the first master creates the cluster's certificates, every
//! other machine gets what it needs from there.

mod components;
mod node_identity;
mod node_role;
mod pki;

use std::path::Path;

pub use components::{Components, bundle_id, verified as verified_bundle};
use engine::{Playbook, PlaybookError};
pub use node_identity::NodeIdentity;
pub use node_role::NodeRole;
use spec::{BootstrapRole, Node, ValidatedCluster};

pub use self::pki::{Pki, input as pki_input};
use crate::Layout;

/// The playbook's name in ledger and events.
pub const NAME: &str = "cluster";

/// All steps for a node.
pub fn playbook(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Result<Playbook, PlaybookError> {
    let role = cluster.bootstrap_role(node);
    let all = Playbook::new(NAME)
        .step(NodeIdentity::new(node, layout), &[])?
        .step(NodeRole::new(role, layout), &["node-identity"])?;
    match role {
        BootstrapRole::MasterFirst => all.step(Pki::new(cluster, node, layout), &["node-identity"]),
        BootstrapRole::MasterAdditional | BootstrapRole::Worker => Ok(all),
    }
}

/// Only the steps by which a machine learns who it is.
pub fn detect(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Result<Playbook, PlaybookError> {
    Playbook::new(NAME)
        .step(NodeIdentity::new(node, layout), &[])?
        .step(NodeRole::new(cluster.bootstrap_role(node), layout), &["node-identity"])
}

/// Only the components of a bundle.
pub fn components(bundle: &Path) -> Result<Playbook, PlaybookError> {
    Playbook::new(NAME).step(Components::new(bundle), &[])
}

/// Only the certificates.
pub fn certificates(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Result<Playbook, PlaybookError> {
    Playbook::new(NAME).step(Pki::new(cluster, node, layout), &[])
}
