//! How everything that was done on a machine is taken back.
//!
//! [`reversal`] is the list: every step of the playbook that was more than files, with how it is taken back. It needs
//! neither cluster.yaml nor an API, only the ledger; what more is known makes the end politer towards the cluster.
//!
//! ```text
//! hold_still: our units do not start again ─► the ledger, the last step first ─► tidy: nothing of ours is left
//! ```
//! Killed at any point, a second reset goes on: what is taken back is forgotten by the ledger only afterwards, and the
//! ledger itself goes last.

use std::path::{Path, PathBuf};

use engine::{LedgerError, LedgerStore, Reversal, StepError, StepReversal, TakeBack, Undo};
use host::{Disk, Host};
use spec::ValidatedCluster;

use super::{
    NAME,
    admin_kubeconfig::Linked,
    cluster_keys::Given,
    hostname::Renamed,
    images::Imported,
    join::{KUBELET_PKI, Member},
    kernel::Set,
    leave::{Cluster, EtcdService, Kubelet},
    network::Addressed,
    objects::InTheApi,
    unit_files::Installed,
};
use crate::{
    Layout, ceph,
    residue::tree,
    service::{self, Started},
};

/// What `node install` does.
pub const INSTALLED: &[&str] = &["own-units", "program", "configuration", "components"];
/// What makes certificates, keys and kubeconfigs.
pub const PKI: &[&str] = &["cluster-keys", "pki", "encryption-key", "join"];

/// Our own units, which start others.
const OWN_UNITS: &[&str] = &["cluster-bootstrap.service", "cluster-detect.service", "blackstart-agent.service"];
/// All units of a node, in an order in which each is stopped before what it needs.
const ALL_UNITS: &[&str] = &[
    "kubelet.service",
    "kube-proxy.service",
    "kube-scheduler.service",
    "kube-controller-manager.service",
    "kube-apiserver.service",
    "etcd.service",
    "containerd.service",
    "blackstart-agent.service",
];

/// What is to be taken back, and what is known.
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

/// How the steps of a node are taken back.
pub fn reversal(reset: &Reset<'_>) -> Reversal {
    let cluster = Cluster::new(reset.cluster, reset.node, reset.layout, reset.keep_pki);
    let except: Vec<PathBuf> = reset.keep_pki.then(|| KUBELET_PKI.into()).into_iter().collect();
    let mut kept: Vec<&str> = Vec::new();
    kept.extend(reset.keep_pki.then_some(PKI).into_iter().flatten());
    kept.extend(reset.keep_installed.then_some(INSTALLED).into_iter().flatten());
    let all = Reversal::new(NAME)
        .keeping(kept)
        .step("own-units", Installed { units: OWN_UNITS, except: Vec::new() })
        .step("admin-kubeconfig", Linked)
        .step("network", Addressed)
        .step("host-name", Renamed)
        .step("kernel-settings", Set)
        .step("units", Installed { units: ALL_UNITS, except })
        .step("containerd", Started { units: &["containerd.service"] })
        .step("agent", Started { units: &["blackstart-agent.service"] })
        .step("fence", GoesWithEtcd)
        .step("etcd-place", GoesWithEtcd)
        .step("etcd", EtcdService { cluster: cluster.clone() })
        .step("etcd-vote", GoesWithEtcd)
        .step("kube-apiserver", Started { units: &["kube-apiserver.service"] })
        .step("kube-controller-manager", Started { units: &["kube-controller-manager.service"] })
        .step("kube-scheduler", Started { units: &["kube-scheduler.service"] })
        .step("kubelet", Kubelet { cluster })
        .step("kube-proxy", Started { units: &["kube-proxy.service"] })
        .step("join", Member { kubernetes_dir: reset.layout.kubernetes_dir.clone() })
        .step("cluster-keys", Given { kubernetes_dir: reset.layout.kubernetes_dir.clone() })
        .step("images", Imported)
        .step("pause-image", Imported)
        .step("own-image", Imported)
        .step("roles", InTheApi)
        .step("network-add-on", InTheApi)
        .step("cluster-info", InTheApi)
        .step("dns", InTheApi)
        .step("join-info", InTheApi);
    ceph::taken_back(all)
}

/// A place and a vote in etcd, and the decision to found one: the member leaves when `etcd` is taken back, and its data go
/// with its unit.
struct GoesWithEtcd;

impl TakeBack for GoesWithEtcd {
    fn shows_act(&self, _key: &str) -> Option<String> {
        None
    }

    async fn act(&self, _key: &str, _host: &Host) -> Result<(), StepError> {
        Ok(())
    }
}

/// Whether the others in the cluster can do without this node; an etcd that does not answer has nothing to say.
pub async fn may_leave(reset: &Reset<'_>, host: &Host) -> Result<(), StepError> {
    Cluster::new(reset.cluster, reset.node, reset.layout, reset.keep_pki).check_quorum(host).await
}

/// Lets the node be given the cluster's keys again, where they go with the reset; returns what is to be done by hand.
pub async fn arm_again(reset: &Reset<'_>, host: &Host) -> Option<String> {
    Cluster::new(reset.cluster, reset.node, reset.layout, reset.keep_pki).arm_again(host).await
}

/// Sees to it that nothing of ours begins anew while it is taken back, not even after a restart of the machine in the
/// middle: units that are about to be removed are no longer wanted at boot, and the bootstrap lets the machine go.
pub async fn hold_still(host: &Host, plan: &[StepReversal]) -> Result<(), StepError> {
    let starts_it = |path: &Path| path.parent().and_then(Path::extension).is_some_and(|kind| kind == "wants");
    let links = plan.iter().flat_map(|step| &step.undo).filter_map(|undo| match undo {
        Undo::RemoveLink(path) if starts_it(path) => Some(path),
        _ => None,
    });
    for link in links {
        host::remove_file(&*host.disk, link)?;
    }
    if host.is_live {
        for unit in ["cluster-bootstrap.service", "cluster-detect.service"] {
            service::stop(host, unit).await?;
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
