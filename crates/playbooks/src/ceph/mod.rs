//! Ceph on a node: the steps that follow once Kubernetes is ready.
//!
//! `steps` is the whole of it. Everything is the distribution's own: its packages, its units, its tools.
//!
//! ```text
//! packages ─► keys ─► conf ─┬─ mon ─► initialized ─┐
//!                           ├─ mgr ────────────┼─► (first monitor) dashboard ─► user ─► healthy ─► bootstrapped
//!                           └─ osd-data ─► osd ┘
//! ```
//! A node does what its roles ask for; monitors come first on the node that has one, everybody else waits for them. Whatever
//! is made for a daemon is made in a *workspace* beside its place and moved there when it is whole.
//!
//! To add a step: a file here, its name in `ids`, a line in `steps` and, if it does more than write files, one in `undos`.

mod bootstrapped;
mod cached_probe;
mod client;
mod conf;
mod daemon;
mod dashboard;
mod foreign;
mod healthy;
pub mod ids;
mod initialized;
mod keys;
mod leave;
mod managers;
mod mgr;
mod mon;
mod osd;
mod packages;
mod source;
#[cfg(test)]
mod testing;
mod undo;
mod workspace;

use std::sync::Arc;

use engine::{PlaybookBuilder, Stays, StepId, Undos};
use spec::{Ceph, Node, Role, ValidatedCluster};

pub use packages::{PACKAGES, unwanted_units};

use self::{
    daemon::Kind,
    ids::{
        CONF, DASHBOARD, DASHBOARD_USER, HEALTHY, INITIALIZED, KEYS, MANAGERS, MGR, MON, OSD, OSD_DATA,
        PACKAGES as INSTALLED,
    },
    source::Source,
    undo::Daemons,
};
use crate::{access::Access, membership::Membership};
use nodekit::Layout;

/// A node, and how it reaches the rest of the cluster.
pub(crate) struct CephContext<'a> {
    pub(crate) cluster: &'a ValidatedCluster,
    pub(crate) node: &'a Node,
    pub(crate) layout: &'a Layout,
    /// Whether the machine's disks are its own.
    pub(crate) has_own_disk: bool,
    /// The API, with whatever this node may do there.
    pub(crate) access: &'a Arc<Access>,
    /// The join services.
    pub(crate) membership: &'a Arc<Membership>,
    /// The step that makes it a node of Kubernetes.
    pub(crate) after: StepId,
}

/// The steps of a node with a role in Ceph, behind those that make it a node of Kubernetes.
pub(crate) fn steps<'a>(all: PlaybookBuilder<'a>, context: &CephContext<'_>) -> PlaybookBuilder<'a> {
    match context.cluster.ceph() {
        Some(settings) if context.node.has_ceph_role() => append(all, context, settings),
        _ => all,
    }
}

fn append<'a>(all: PlaybookBuilder<'a>, context: &CephContext<'_>, settings: &Ceph) -> PlaybookBuilder<'a> {
    let CephContext { cluster, node, layout, .. } = *context;
    let source = Arc::new(Source::new(cluster, node, context.access, context.membership));
    let [is_monitor, is_manager, has_osds] = [Role::CephMon, Role::CephMgr, Role::CephOsd].map(|role| node.has(role));
    let is_first = cluster.with_role(Role::CephMon).next().is_some_and(|first| first.name == node.name);
    let leads_managers = is_first && cluster.with_role(Role::CephMgr).next().is_some();
    let has_dashboard = leads_managers && settings.dashboard;
    let daemons_after = if is_monitor { MON } else { CONF };
    let last = [INITIALIZED, MGR, OSD, MANAGERS, DASHBOARD_USER];
    all.step(packages::Packages::new(settings, node), &[context.after])
        .step(keys::Keys::new(node, &source), &[INSTALLED])
        .step(conf::Conf::new(cluster, settings, context.has_own_disk), &[KEYS])
        .step_if(is_monitor, mon::Monitor::new(cluster, node, &source), &[CONF])
        .step_if(is_monitor, initialized::Initialized::new(&source), &[MON])
        .step_if(is_manager, mgr::Manager::new(node), &[daemons_after])
        .step_if(has_osds, osd::Data::new(node), &[daemons_after])
        .step_if(has_osds, osd::Run::new(node), &[OSD_DATA])
        .step_if(leads_managers, managers::Managers::new(cluster, &source), &[INITIALIZED])
        .step_if(has_dashboard, dashboard::Dashboard::new(cluster), &[INITIALIZED])
        .step_if(has_dashboard, dashboard::User::new(layout), &[DASHBOARD])
        .step_if(is_first, healthy::Healthy::new(cluster), &last)
        .step(bootstrapped::Bootstrapped::new(layout), if is_first { &[HEALTHY] } else { &last })
}

/// How the steps above are undone. What Ceph itself keeps is not one node's to remove, and packages are the distribution's;
/// others may have come to use them.
pub(crate) fn undos(undos: Undos) -> Undos {
    undos
        .step(INSTALLED, Stays)
        .step(KEYS, keys::Given)
        .step(MON, Daemons(Kind::Mon))
        .step(INITIALIZED, Stays)
        .step(MANAGERS, Stays)
        .step(MGR, Daemons(Kind::Mgr))
        .step(OSD_DATA, osd::Stores)
        .step(OSD, osd::Stopped)
        .step(DASHBOARD, Stays)
        .step(DASHBOARD_USER, Stays)
}
