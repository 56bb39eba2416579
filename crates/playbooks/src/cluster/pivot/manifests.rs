//! What the bootstrap node applies beyond what every cluster has, in the order of its kinds: namespaces, definitions of kinds,
//! then (with the roles and settings of every cluster in between) the operator that reports how the cluster is.

use std::sync::Arc;

use engine::About;
use render::objects;
use spec::ValidatedCluster;

use super::super::{
    Objects,
    ids::{CLUSTER_VERSION_OPERATOR, DEFINITIONS, NAMESPACES},
};
use crate::{access::Access, program_image};

pub(super) fn namespaces(access: &Arc<Access>) -> Objects {
    let about = About::new(NAMESPACES, "Create the namespaces", "what is applied next has a place to be in");
    Objects::new(about, access, |_| Ok(objects::namespaces()))
}

pub(super) fn definitions(access: &Arc<Access>) -> Objects {
    let about = About::new(
        DEFINITIONS,
        "Define ClusterVersion and ClusterOperators",
        "`kubectl get co` shows how far the cluster is",
    );
    Objects::new(about, access, |_| Ok(objects::definitions()))
}

/// All of it, also from masters: an operator of another version runs another image, and what was deleted comes back.
/// Nothing waits for its pod, which needs a master that is Ready.
pub(in super::super) fn version_operator(cluster: &ValidatedCluster, access: &Arc<Access>) -> Objects {
    let about = About::new(
        CLUSTER_VERSION_OPERATOR,
        "Deploy the cluster version operator",
        "it keeps ClusterVersion and ClusterOperators as the cluster is",
    );
    let mut wanted = objects::namespaces();
    wanted.extend(objects::definitions());
    wanted.extend(objects::version_operator(cluster, &program_image::name()));
    Objects::new(about, access, move |_| Ok(wanted.clone())).unawaited()
}
