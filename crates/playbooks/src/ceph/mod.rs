//! Ceph on a node: the steps that follow once Kubernetes is ready.

mod packages;

use engine::{Playbook, PlaybookError};
use spec::{Node, ValidatedCluster};

pub(crate) use packages::Stay;
pub use packages::{packages, unwanted_units};

/// The steps of a node with a role in Ceph, behind those that make it a node of Kubernetes.
pub(crate) fn steps(all: Playbook, cluster: &ValidatedCluster, node: &Node) -> Result<Playbook, PlaybookError> {
    match cluster.ceph() {
        Some(ceph) if node.has_ceph_role() => all.step(packages::Packages::new(ceph, node), &["node-ready"]),
        _ => Ok(all),
    }
}
