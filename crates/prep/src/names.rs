//! What things are called in the cluster. The manifests in `infrastructure/node-bootstrap` say the same; a test compares.

use operations::slots::Pool;

use crate::Prep;

/// Where everything lives.
pub const NAMESPACE: &str = "kube-system";

/// The image of every pod, without its tag.
pub const IMAGE: &str = "blackstart.local/blackstart";

/// The `DaemonSet`, its service account, and the value of the label `app` of its pods.
pub fn daemon_set(prep: Prep) -> String {
    format!("rke2-node-bootstrap-{prep}")
}

/// The label of a Node that says how far it is: what is to run on prepared nodes selects by it.
pub fn label(prep: Prep) -> String {
    format!("blackstart.io/prep-{prep}")
}

/// The annotation of a Node that holds its last report.
pub fn annotation(prep: Prep) -> String {
    format!("blackstart.io/prep-{prep}-report")
}

/// The annotation of a Node that says since when its label is what it is.
pub fn since(prep: Prep) -> String {
    format!("blackstart.io/prep-{prep}-since")
}

/// The slots that limit how many nodes are worked on at once.
pub fn slots(prep: Prep) -> Pool {
    Pool { namespace: NAMESPACE, app: daemon_set(prep), prefix: format!("node-bootstrap-{prep}-") }
}

/// Where the pod offers its metrics, on its own address.
pub const fn metrics_port(prep: Prep) -> u16 {
    match prep {
        Prep::Iscsi => 9469,
        Prep::Gpu => 9470,
    }
}
