//! Ceph on a node: the steps that follow once Kubernetes is ready.
//!
//! `steps` is the whole of it. Everything is the distribution's own: its packages, its units, its tools.
//!
//! ```text
//! packages ─► keys ─► conf ─┬─ mon ─► founded ─┐
//!                           ├─ mgr ────────────┼─► (first monitor) dashboard ─► user ─► settled ─► bootstrapped
//!                           └─ osd-data ─► osd ┘
//! ```
//! A node does what its roles ask for; monitors come first on the node that has one, everybody else waits for them. Whatever
//! is made for a daemon is made in a *workspace* beside its place and moved there when it is whole.
//!
//! To add a step: a file here, a line in `steps`, and how it is taken back in `cluster/reset.rs`.

mod bootstrapped;
mod client;
mod conf;
mod daemon;
mod dashboard;
mod foreign;
mod founded;
mod keys;
mod leave;
mod managers;
mod mgr;
mod mon;
mod osd;
mod owned;
mod pace;
mod packages;
mod settled;
mod source;
mod takeback;
#[cfg(test)]
mod testing;
mod workspace;

use std::sync::Arc;

use engine::{Playbook, PlaybookError, Reversal};
use spec::{Ceph, Node, Role, ValidatedCluster};

pub use packages::{PACKAGES, unwanted_units};

use self::{daemon::Kind, source::Source, takeback::Daemons};
use crate::{Layout, access::Access, cluster::membership::Membership, stays::Stays};

/// A node, and how it reaches the rest of the cluster.
pub(crate) struct Of<'a> {
    pub(crate) cluster: &'a ValidatedCluster,
    pub(crate) node: &'a Node,
    pub(crate) layout: &'a Layout,
    /// Whether the machine's disks are its own.
    pub(crate) has_own_disk: bool,
    /// The API, with whatever this node may do there.
    pub(crate) access: &'a Arc<Access>,
    /// The join services.
    pub(crate) membership: &'a Arc<Membership>,
}

/// The steps of a node with a role in Ceph, behind those that make it a node of Kubernetes.
pub(crate) fn steps(all: Playbook, of: &Of<'_>) -> Result<Playbook, PlaybookError> {
    match of.cluster.ceph() {
        Some(settings) if of.node.has_ceph_role() => append(all, of, settings),
        _ => Ok(all),
    }
}

fn append(all: Playbook, of: &Of<'_>, settings: &Ceph) -> Result<Playbook, PlaybookError> {
    let Of { cluster, node, layout, .. } = *of;
    let source = Arc::new(Source::new(cluster, node, of.access, of.membership));
    let is_first = cluster.with_role(Role::CephMon).next().is_some_and(|first| first.name == node.name);
    let has_managers = cluster.with_role(Role::CephMgr).next().is_some();
    let mut all = all
        .step(packages::Packages::new(settings, node), &["node-ready"])?
        .step(keys::Keys::new(node, &source), &["ceph-packages"])?
        .step(conf::Conf::new(cluster, settings, of.has_own_disk), &["ceph-keys"])?;
    let (mut after, mut last) = ("ceph-conf", Vec::new());
    if node.has(Role::CephMon) {
        all = all
            .step(mon::Monitor::new(cluster, node, &source), &["ceph-conf"])?
            .step(founded::Founded::new(&source), &["ceph-mon"])?;
        after = "ceph-mon";
        last.push("ceph-founded");
    }
    if node.has(Role::CephMgr) {
        all = all.step(mgr::Manager::new(node), &[after])?;
        last.push("ceph-mgr");
    }
    if node.has(Role::CephOsd) {
        all = all.step(osd::Data::new(node), &[after])?.step(osd::Run::new(node), &["ceph-osd-data"])?;
        last.push("ceph-osd");
    }
    if is_first && has_managers {
        all = all.step(managers::Managers::new(cluster, &source), &["ceph-founded"])?;
        last.push("ceph-managers");
    }
    if is_first && has_managers && settings.dashboard {
        all = all
            .step(dashboard::Dashboard::new(cluster), &["ceph-founded"])?
            .step(dashboard::User::new(layout), &["ceph-dashboard"])?;
        last.push("ceph-dashboard-user");
    }
    if is_first {
        all = all.step(settled::Settled::new(cluster), &last)?;
        last = vec!["ceph-settled"];
    }
    all.step(bootstrapped::Bootstrapped::new(layout), &last)
}

/// How the steps above are taken back. What Ceph itself keeps is not one node's to remove, and packages are the distribution's;
/// others may have come to use them.
pub(crate) fn taken_back(reversal: Reversal) -> Reversal {
    reversal
        .step("ceph-packages", Stays)
        .step("ceph-keys", keys::Given)
        .step("ceph-mon", Daemons(Kind::Mon))
        .step("ceph-founded", Stays)
        .step("ceph-managers", Stays)
        .step("ceph-mgr", Daemons(Kind::Mgr))
        .step("ceph-osd-data", osd::Stores)
        .step("ceph-osd", osd::Stopped)
        .step("ceph-dashboard", Stays)
        .step("ceph-dashboard-user", Stays)
}
