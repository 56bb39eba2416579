//! The `remove` playbook: takes another node out of the cluster, from a master. The node may be there or gone for good.
//!
//! ```text
//! cordon ─► drain ─► etcd-member ─► node-object ─► cleanup                                      any node
//! bootstrap-off ─► etcd-member ─► pods ─► node-object ─► cleanup ─► masters-lead ─► bootstrap-complete   a dead bootstrap node
//! ```
//! Nothing happens on the machine of that node: what is on it stays until `node reset` is run there. Every step looks at the
//! cluster and not at what an earlier run has done, so a run that was killed goes on where it was, from any master. A plan is
//! made of all steps before the first one runs, and one that refuses (a majority that would be lost, pods whose end
//! no kubelet reports) keeps all of them from running. To add a step: a file here, and its line in [`playbook`].

mod bootstrap_off;
mod cleanup;
mod cordon;
mod drain;
mod etcd_member;
pub mod ids;
mod masters_lead;
mod node_object;
mod pods;

use std::{collections::BTreeMap, net::IpAddr, path::PathBuf, sync::Arc};

use engine::{About, Playbook, PlaybookError, StepError};
use host::{Disk, Host, HostError};
use kubeapi::{
    ApiError,
    k8s_openapi::api::core::v1::Node as ApiNode,
    kube::{self, Api},
};
use operations::drain::Drain as Operation;
use render::objects;
use spec::{Node, ValidatedCluster};

use self::{
    bootstrap_off::BootstrapOff,
    cleanup::Cleanup,
    cordon::Cordon,
    drain::Drain,
    etcd_member::EtcdMember,
    ids::{BOOTSTRAP_OFF, CLEANUP, COMPLETE, CORDON, DRAIN, ETCD_MEMBER, MASTERS_LEAD, NODE_OBJECT, PODS},
    masters_lead::MastersLead,
    node_object::NodeObject,
    pods::Pods,
};
use crate::{
    access::{self, Access},
    cluster::Objects,
    codes,
};
use nodekit::{Layout, cleanup::tree};

/// The playbook's name in ledger and events.
pub const NAME: &str = "remove";

/// Which node is removed, and from where.
pub struct Removal<'a> {
    /// The cluster.
    pub cluster: &'a ValidatedCluster,
    /// The node to be removed; it need not be in cluster.yaml any more.
    pub node: &'a str,
    /// The master that this runs on.
    pub from: &'a str,
    /// Where things are on that master.
    pub layout: &'a Layout,
    /// How its pods leave it; otherwise they go with the node.
    pub drain: Option<Operation>,
}

/// All steps, or why this node cannot be removed from here.
pub fn playbook(removal: &Removal<'_>) -> Result<Playbook, RemoveError> {
    if removal.node == removal.from {
        return Err(RemoveError::Own(removal.node.to_owned()));
    }
    let target = Target::new(removal);
    // What is removed from a cluster comes back by joining it again.
    let playbook = Playbook::never_undone(NAME).step(Cordon::new(&target), &[]);
    let (playbook, drained) = match removal.drain.clone() {
        Some(operation) => (playbook.step(Drain { target: target.clone(), operation }, &[CORDON]), DRAIN),
        None => (playbook, CORDON),
    };
    Ok(playbook
        .step(EtcdMember::new(removal, &target), &[drained])
        .step(NodeObject::new(&target), &[ETCD_MEMBER])
        .step(Cleanup::new(&target), &[NODE_OBJECT])
        .build()?)
}

/// The same for a bootstrap node that died before it could hand over: its masters go on without it.
pub fn bootstrap_playbook(removal: &Removal<'_>, bootstrap: &Node) -> Result<Playbook, RemoveError> {
    let target = Target::new(removal);
    let done = About::new(COMPLETE, "Note that the bootstrap is complete", "installers and people wait for it");
    let done = Objects::new(done, &target.api, |_| Ok(vec![objects::bootstrap_complete(BTreeMap::new())]));
    Ok(Playbook::never_undone(NAME)
        .step(BootstrapOff::new(bootstrap, removal.cluster.api().port), &[])
        .step(EtcdMember::new(removal, &target), &[BOOTSTRAP_OFF])
        .step(Pods::new(&target), &[ETCD_MEMBER])
        .step(NodeObject::new(&target), &[PODS])
        .step(Cleanup::for_good(&target), &[NODE_OBJECT])
        .step(MastersLead::new(&target), &[CLEANUP])
        .step(done, &[MASTERS_LEAD])
        .build()?)
}

/// Where a removal keeps its ledger: apart from that of the machine it runs on, which is another node's.
pub fn state_dir(layout: &Layout, node: &str) -> PathBuf {
    removals(layout).join(node)
}

/// Forgets a removal that is done.
pub fn tidy(disk: &dyn Disk, layout: &Layout, node: &str) -> Result<(), HostError> {
    tree::remove(disk, &state_dir(layout, node))?;
    let all = removals(layout);
    if disk.list(&all)?.is_empty() {
        host::remove_dir_if_empty(disk, &all)?;
    }
    Ok(())
}

fn removals(layout: &Layout) -> PathBuf {
    layout.state_dir.join("removals")
}

/// Why a removal cannot even be planned.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// It would cut off the branch it sits on.
    #[error("`{0}` is the node that this runs on")]
    Own(String),
    /// A mistake in the list of steps.
    #[error(transparent)]
    Playbook(#[from] PlaybookError),
}

impl explain::Explain for RemoveError {
    fn code(&self) -> explain::Code {
        match self {
            Self::Own(_) => codes::OWN_NODE,
            Self::Playbook(error) => error.code(),
        }
    }
}

/// The node that goes, as every step needs it.
#[derive(Clone)]
struct Target {
    name: String,
    /// After which its controllers name themselves; of a node that is not in cluster.yaml any more its name.
    hostname: String,
    /// Of cluster.yaml; a node that is not there any more has none.
    ip: Option<IpAddr>,
    api: Arc<Access>,
}

impl Target {
    fn new(removal: &Removal<'_>) -> Self {
        let known = removal.cluster.machine(removal.node);
        Self {
            name: removal.node.to_owned(),
            hostname: known.map_or(removal.node, |node| &node.hostname).to_owned(),
            ip: known.map(|node| node.ip),
            // The API reports a budget that holds a pod back as "too many requests".
            api: Arc::new(Access::with_short_timeout(removal.layout.kubernetes_dir.join("super-admin.conf"))),
        }
    }

    /// The Node object, if there is one.
    async fn node(&self, host: &Host) -> Result<Option<ApiNode>, StepError> {
        let client = self.api.required(host).await?;
        Api::<ApiNode>::all(client).get_opt(&self.name).await.map_err(refused(format!("see node {}", self.name)))
    }
}

/// An error of the API, for the engine.
fn refused(doing: impl Into<String>) -> impl FnOnce(kube::Error) -> StepError {
    move |error| access::failed(&ApiError::of(doing)(error))
}

/// What was deleted, or was gone already.
fn gone<T>(deleted: Result<T, kube::Error>, doing: impl Into<String>) -> Result<(), StepError> {
    kubeapi::unless_gone(deleted, doing).map(drop).map_err(|error| access::failed(&error))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use explain::Explain;

    use super::*;

    fn removal<'a>(cluster: &'a ValidatedCluster, layout: &'a Layout, node: &'a str) -> Removal<'a> {
        Removal { cluster, node, from: "master-01", layout, drain: None }
    }

    fn cluster() -> ValidatedCluster {
        let text = "cluster: { name: home, networking: { node_cidr: 192.168.1.0/24, gateway: 192.168.1.1 } }\n\
                    nodes: [{ name: master-01, ip: 192.168.1.10, roles: [master] }]";
        spec::check_text(text).cluster.unwrap()
    }

    #[test]
    fn no_node_removes_itself() {
        let (cluster, layout) = (cluster(), Layout::default());
        let error = playbook(&removal(&cluster, &layout, "master-01")).err().unwrap();
        assert_eq!(error.code(), codes::OWN_NODE);
        assert!(error.code().fix.contains("blackstart node reset"));
    }

    #[test]
    fn without_a_drain_everything_else_is_done() {
        let (cluster, layout) = (cluster(), Layout::default());
        let steps = |drain| {
            let playbook = playbook(&Removal { drain, ..removal(&cluster, &layout, "worker-01") }).unwrap();
            playbook.about().map(|about| about.id.to_string()).collect::<Vec<_>>().join(" ")
        };
        let drain = Operation { node: "worker-01".into(), within: Duration::from_mins(2), force: false };
        assert_eq!(steps(Some(drain)), "cordon drain etcd-member node-object cleanup");
        assert_eq!(steps(None), "cordon etcd-member node-object cleanup");
    }

    #[test]
    fn a_removal_that_is_done_leaves_nothing() {
        let layout = Layout::default();
        let disk = host::disk::model::ModelDisk::default();
        for node in ["worker-01", "worker-02"] {
            host::create_dir_all(&disk, &state_dir(&layout, node), 0o755).unwrap();
        }
        tidy(&disk, &layout, "worker-01").unwrap();
        assert!(disk.exists(&state_dir(&layout, "worker-02")).unwrap(), "another removal goes on");
        tidy(&disk, &layout, "worker-02").unwrap();
        assert!(!disk.exists(&removals(&layout)).unwrap());
        assert!(disk.exists(&layout.state_dir).unwrap());
    }
}
