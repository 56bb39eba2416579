//! How everything that was done on a machine is undone.
//!
//! [`undos`] is the list: every step of the playbook that was more than files, with the undo that it declares. It needs
//! neither cluster.yaml nor an API, only the ledger; what more is known makes the end politer towards the cluster.
//!
//! ```text
//! hold_still: our units do not start again ─► the ledger, the last step first ─► tidy: nothing of ours is left,
//!                                                                               or enable_again: the next boot tries again
//! ```
//! Killed at any point, a second reset goes on: what is undone is forgotten by the ledger only afterwards, and the
//! ledger itself goes last.

use std::path::{Path, PathBuf};

use engine::{LedgerError, LedgerStore, Stays, StepError, StepId, StepUndo, UndoEntry, Undos};
use host::{Disk, Host, HostError};
use spec::ValidatedCluster;

use super::{
    NAME,
    admin_kubeconfig::Linked,
    cluster_keys::Given,
    hostname::Renamed,
    ids,
    images::Imported,
    join::{KUBELET_PKI, Member},
    kernel::Set,
    leave::{Cluster, EtcdService, Kubelet},
    network::Addressed,
    own_image::OwnImported,
    pivot::bootkube,
    unit_files::{Installed, enabling_link},
};
use crate::{
    ceph,
    service::{self, Started},
};
use nodekit::{Layout, cleanup::tree};

/// What `node install` does.
pub const INSTALLED: &[StepId] = &[ids::OWN_UNITS, ids::PROGRAM, ids::CONFIGURATION, ids::COMPONENTS];
/// What makes certificates, keys and kubeconfigs.
pub const KEYS: &[StepId] = &[ids::CLUSTER_KEYS, ids::PKI, ids::ENCRYPTION_KEY, ids::JOIN];

const UNIT_DIR: &str = "/etc/systemd/system";
/// Our own units, which start others.
const OWN_UNITS: &[&str] = &["cluster-bootstrap.service", "cluster-detect.service", "blackstart-agent.service"];
/// All units of a node, in an order in which each is stopped before what it needs.
const ALL_UNITS: &[&str] = &[
    bootkube::UNIT,
    "kubelet.service",
    "kube-proxy.service",
    "kube-scheduler.service",
    "kube-controller-manager.service",
    "kube-apiserver.service",
    "etcd.service",
    "containerd.service",
    "blackstart-agent.service",
];

/// What is to be undone, and what is known.
pub struct Reset<'a> {
    /// Where things are.
    pub layout: &'a Layout,
    /// The cluster, where its description is still there.
    pub cluster: Option<&'a ValidatedCluster>,
    /// Which node this is, where the machine knows.
    pub node: Option<&'a str>,
    /// Certificates, keys and kubeconfigs stay.
    pub keep_pki: bool,
    /// Program, components, configuration and our own units stay.
    pub keep_installed: bool,
}

impl<'a> Reset<'a> {
    /// Of everything, on a machine of which nothing else is known.
    pub fn of(layout: &'a Layout) -> Self {
        Self { layout, cluster: None, node: None, keep_pki: false, keep_installed: false }
    }
}

/// How the steps of a node are undone. The member and its vote in etcd, and the decision to bootstrap one, go with `etcd`; the kubelet
/// that `node-ready` has restarted goes with `kubelet`.
pub fn undos(reset: &Reset<'_>) -> Undos {
    let cluster = Cluster::new(reset.cluster, reset.node, reset.layout, reset.keep_pki);
    let except: Vec<PathBuf> = reset.keep_pki.then(|| KUBELET_PKI.into()).into_iter().collect();
    let kept = [(reset.keep_pki, KEYS), (reset.keep_installed, INSTALLED)];
    let all = Undos::new(NAME)
        .keeping(kept.into_iter().filter(|(is_kept, _)| *is_kept).flat_map(|(_, steps)| steps))
        .step(ids::OWN_UNITS, Installed { units: OWN_UNITS, except: Vec::new() })
        .step(ids::NETWORK, Addressed)
        .step(ids::HOST_NAME, Renamed)
        .step(ids::KERNEL_SETTINGS, Set)
        .step(ids::UNITS, Installed { units: ALL_UNITS, except })
        .step(ids::CONTAINERD, Started { units: &["containerd.service"] })
        .step(ids::PAUSE_IMAGE, Imported)
        .step(ids::AGENT, Started { units: &["blackstart-agent.service"] })
        .step(ids::SPLIT_BRAIN_GUARD, Stays)
        .step(ids::CLUSTER_KEYS, Given { kubernetes_dir: reset.layout.kubernetes_dir.clone() })
        .step(ids::ADMIN_KUBECONFIG, Linked)
        .step(ids::ETCD_JOIN, Stays)
        .step(ids::ETCD, EtcdService { cluster: cluster.clone() })
        .step(ids::ETCD_VOTE, Stays)
        .step(ids::KUBE_APISERVER, Started { units: &["kube-apiserver.service"] })
        .step(ids::KUBELET, Kubelet { cluster })
        .step(ids::ROLES, Stays)
        .step(ids::NETWORK_ADD_ON, Stays)
        .step(ids::NODE_READY, Stays)
        .step(ids::KUBE_CONTROLLER_MANAGER, Started { units: &["kube-controller-manager.service"] })
        .step(ids::KUBE_SCHEDULER, Started { units: &["kube-scheduler.service"] })
        .step(ids::KUBE_PROXY, Started { units: &["kube-proxy.service"] })
        .step(ids::CLUSTER_INFO, Stays)
        .step(ids::JOIN_INFO, Stays)
        .step(ids::IMAGES, Imported)
        .step(ids::OWN_IMAGE, OwnImported)
        .step(ids::DNS, Stays)
        .step(ids::BOOTKUBE, Started { units: &[bootkube::UNIT] })
        .step(ids::NAMESPACES, Stays)
        .step(ids::DEFINITIONS, Stays)
        .step(ids::CLUSTER_OPERATORS, Stays)
        .step(ids::CLUSTER_VERSION_OPERATOR, Stays)
        .step(ids::CONTROLLERS_RELEASED, Stays)
        .step(ids::API_RELEASED, Stays)
        .step(ids::ETCD_LEFT, Stays)
        .step(ids::BOOTSTRAP_COMPLETE, Stays)
        .step(ids::NODE_RETIRED, Stays)
        .step(ids::KEYS_ERASED, Stays)
        .step(ids::JOIN, Member { kubernetes_dir: reset.layout.kubernetes_dir.clone() });
    ceph::undos(all)
}

/// Whether the others in the cluster can do without this node; an etcd that does not answer has nothing to say.
pub async fn may_leave(reset: &Reset<'_>, host: &Host) -> Result<(), StepError> {
    Cluster::new(reset.cluster, reset.node, reset.layout, reset.keep_pki).check_quorum(host).await
}

/// Lets the node be given the cluster's keys again, where they go with the reset; returns what is to be done by hand.
pub async fn arm_again(reset: &Reset<'_>, host: &Host) -> Option<String> {
    Cluster::new(reset.cluster, reset.node, reset.layout, reset.keep_pki).arm_again(host).await
}

/// Sees to it that nothing of ours begins again while it is undone, not even after a restart of the machine in the
/// middle: units that are about to be removed are no longer wanted at boot, and the bootstrap lets the machine go.
pub async fn hold_still(host: &Host, plan: &[StepUndo]) -> Result<(), StepError> {
    let starts_it = |path: &Path| path.parent().and_then(Path::extension).is_some_and(|kind| kind == "wants");
    let links = plan.iter().flat_map(|step| &step.entries).filter_map(|entry| match entry {
        UndoEntry::RemoveLink(path) if starts_it(path) => Some(path),
        _ => None,
    });
    for link in links {
        host::remove_file(&*host.disk, link)?;
    }
    // Also where they are to be kept: they are enabled again when the reset has come to its end.
    for unit in OWN_UNITS {
        host::remove_file(&*host.disk, enabling_link(unit).path())?;
    }
    if host.is_live {
        for unit in ["cluster-bootstrap.service", "cluster-detect.service"] {
            service::stop(host, unit).await?;
        }
    }
    Ok(())
}

/// Lets what was kept of our own units start at the next boot again.
pub fn enable_again(host: &Host) -> Result<(), HostError> {
    for unit in OWN_UNITS {
        if host.disk.exists(&Path::new(UNIT_DIR).join(unit))? {
            enabling_link(unit).apply(&*host.disk)?;
        }
    }
    Ok(())
}

/// Removes the state directory, unless the ledger still knows something. Returns whether it does.
pub fn tidy(disk: &dyn Disk, layout: &Layout) -> Result<bool, LedgerError> {
    let dir = &layout.state_dir;
    if !LedgerStore::new(dir).open(disk)?.ledger.steps.is_empty() {
        return Ok(true);
    }
    // The newest ledger goes after the previous one: that one still names what is gone, and would be believed.
    for name in ["ledger.prev.json", "ledger.json"] {
        tree::remove(disk, &dir.join(name))?;
    }
    tree::remove(disk, dir)?;
    Ok(false)
}
