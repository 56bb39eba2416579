//! The temporary bootstrap node: a control plane as static pods on a machine of its own, from which the masters take over.
//!
//! ```text
//! raise      split-brain guard ─► keys, PKI ─► kubelet ─► etcd-pod, kube-apiserver-pod ─► API ready ─┬─ controllers' pods
//!                                                                                                  └─ manifests, add-on …
//! manifests  namespaces ─► definitions of kinds ─┬─ roles ─► settings ─► cluster version operator
//!                                                └─ ClusterOperators: waiting for masters
//! wait       masters-present ─► etcd-announced ─► etcd-scaled ─► masters-ready
//! hand over  hand-over ─► controllers-released ─► api-released ─► etcd-left ─► bootstrap-complete
//! retire     node-retired ─► keys-erased
//! ```
//! Masters run their usual list: they find a cluster and join it. What is raised here goes down again in the opposite order,
//! each part only when a master does its work. `hand-over` is a file, synced before the first part is given up: a run that
//! finds it raises nothing again ([`Until`]) and goes on giving up. To add a step: a file here, its name in
//! `cluster/ids.rs`, its line in [`bootstrap`].

mod api_released;
pub(super) mod bootkube;
mod cluster_operators;
mod controllers_released;
mod etcd_left;
mod hand_over;
mod keys_erased;
mod kubeconfigs;
mod manifests;
mod masters;
mod node_retired;
mod oc;
mod port;
mod removed;
mod static_pod;
mod tenure;
mod until;

use std::sync::Arc;

pub(crate) use api_released::leads_to;
pub(crate) use controllers_released::is_own;

use engine::{About, StepId};
use nodekit::{
    Layout,
    milestones::{self, COMPLETE, Progress},
    run_record::RunRecord,
};
use render::{Process, objects};
use spec::{Node, ValidatedCluster, ports};

use self::{
    api_released::ApiReleased,
    bootkube::Bootkube,
    cluster_operators::ClusterOperators,
    controllers_released::ControllersReleased,
    etcd_left::EtcdLeft,
    hand_over::HandOver,
    keys_erased::KeysErased,
    kubeconfigs::Kubeconfigs,
    masters::{Masters, MastersAt, Stage},
    node_retired::NodeRetired,
    removed::Removed,
    static_pod::StaticPod,
    until::Until,
};
pub(super) use self::{manifests::version_operator, oc::Oc};
pub use self::{
    masters::is_for_masters,
    tenure::{Tenure, tenure},
};
use super::{
    ClusterKeys, EncryptionKey, EtcdMember, List, Membership, NodeContext, NodeReady, Objects, Options, Pki,
    SplitBrainGuard, cluster_info,
    ids::{
        AGENT, API_READY, API_RELEASED, BOOTSTRAP_COMPLETE, CLUSTER_INFO, CLUSTER_KEYS, CLUSTER_OPERATORS,
        CLUSTER_VERSION_OPERATOR, CONTAINERD, CONTROLLERS_RELEASED, DEFINITIONS, ENCRYPTION_KEY, ETCD_ANNOUNCED,
        ETCD_LEFT, ETCD_MEMBER, ETCD_POD, ETCD_SCALED, HAND_OVER, KUBE_APISERVER_POD, KUBE_CONTROLLER_MANAGER_POD,
        KUBE_SCHEDULER_POD, KUBECONFIGS, KUBELET, MASTERS_PRESENT, MASTERS_READY, NAMESPACES, NETWORK_ADD_ON,
        NODE_READY, NODE_RETIRED, PAUSE_IMAGE, PKI, REMOVED, ROLES, SPLIT_BRAIN_GUARD, UNITS,
    },
    network_add_on, roles,
    services::api_url,
};
use crate::{access::Access, service::Probe};

/// The processes of the control plane that are static pods on this machine, each with the step that starts it.
pub fn static_pods(cluster: &ValidatedCluster, node: &Node, options: &Options) -> [(StepId, Process); 4] {
    [
        (ETCD_POD, render::etcd_alone(cluster, node, &options.machine_id, etcd::INITIAL.as_ref())),
        (KUBE_APISERVER_POD, render::kube_apiserver_process(cluster, node)),
        (KUBE_CONTROLLER_MANAGER_POD, render::kube_controller_manager_process(cluster, node)),
        (KUBE_SCHEDULER_POD, render::kube_scheduler_process(cluster, node)),
    ]
}

/// The bootstrap node, from its own keys to the moment in which nothing needs it any more.
pub(super) fn bootstrap<'a>(
    list: List<'a>,
    context: &NodeContext<'_>,
    membership: &Arc<Membership>,
    options: &Options,
) -> List<'a> {
    let NodeContext { cluster, node, layout, .. } = context;
    // Whichever API server is ready: this machine's own at first, a master's in the end.
    let access = Arc::new(Access::new(kubeconfigs::localhost(layout)));
    let masters = Arc::new(Masters::new(context, membership, &access));
    let until = Until::new(hand_over::decision(layout));
    let until_retired = Until::new(keys_erased::retired(layout));
    let pod = |about, process, probe| StaticPod::new(about, &process, &options.pause_image, probe);
    let [(_, etcd), (_, api_server), (_, controller_manager), (_, scheduler)] = static_pods(cluster, node, options);
    let etcd = pod(
        About::new(ETCD_POD, "Start etcd as a static pod", "it holds everything the cluster knows, alone at first"),
        etcd,
        Probe::etcd(layout.kubernetes_dir.clone()),
    );
    let api_server = pod(
        About::new(KUBE_APISERVER_POD, "Start the API server as a static pod", "masters and workers find a cluster"),
        api_server,
        Probe::api_answers(api_url(cluster, node), layout.kubernetes_dir.join("pki/ca.crt")),
    );
    let controller_manager = pod(
        About::new(
            KUBE_CONTROLLER_MANAGER_POD,
            "Start the controller manager as a static pod",
            "it reconciles objects",
        ),
        controller_manager,
        Probe::Port(ports::CONTROLLER_MANAGER),
    );
    let scheduler = pod(
        About::new(KUBE_SCHEDULER_POD, "Start the scheduler as a static pod", "it finds a node for every pod"),
        scheduler,
        Probe::Port(ports::SCHEDULER),
    );
    list.step(Removed::new(cluster, node, layout), &[UNITS])
        .step(until.step(SplitBrainGuard::new(context, membership, options.force_new_cluster)), &[REMOVED])
        .step(until.step(ClusterKeys::new(layout, membership, true)), &[SPLIT_BRAIN_GUARD])
        .step(until.step(Pki::new(cluster, node, layout)), &[CLUSTER_KEYS])
        .step(until.step(Kubeconfigs::new(cluster, node, layout)), &[PKI])
        .step(until.step(EncryptionKey::new(cluster, layout)), &[PKI])
        .step(until.step(context.kubelet()), &[PKI, CONTAINERD, AGENT])
        .step(until.step(Bootkube), &[UNITS])
        .step(until.step(etcd), &[KUBELET, PAUSE_IMAGE])
        .step(until.step(EtcdMember::new(layout)), &[ETCD_POD])
        .step(until.step(api_server), &[KUBELET, PAUSE_IMAGE, ENCRYPTION_KEY])
        .step(until.step(context.api_ready()), &[ETCD_POD, KUBE_APISERVER_POD])
        // Not earlier: without an API they end, and the kubelet lets what has ended wait.
        .step(until.step(controller_manager), &[API_READY])
        .step(until.step(scheduler), &[API_READY])
        .step(Oc, &[UNITS])
        .step(until.step(manifests::namespaces(&access)), &[API_READY, KUBECONFIGS])
        .step(until.step(manifests::definitions(&access)), &[NAMESPACES])
        .step(until.step(ClusterOperators::new(cluster, &access)), &[DEFINITIONS])
        .step(until.step(roles(cluster, &access)), &[DEFINITIONS])
        .step(until.step(network_add_on::step(cluster, layout, &access)), &[API_READY, KUBECONFIGS])
        .step(until.step(cluster_info(context, &access)), &[ROLES])
        .step(until.step(version_operator(cluster, &access)), &[CLUSTER_INFO])
        .step(until.step(NodeReady::new(&node.name, &access)), &[KUBELET, NETWORK_ADD_ON])
        .step(
            until.step(MastersAt::new(Stage::Present, &masters)),
            &[
                NODE_READY,
                ETCD_MEMBER,
                CLUSTER_OPERATORS,
                CLUSTER_VERSION_OPERATOR,
                KUBE_CONTROLLER_MANAGER_POD,
                KUBE_SCHEDULER_POD,
            ],
        )
        .step(until.step(MastersAt::new(Stage::Announced, &masters)), &[MASTERS_PRESENT])
        .step(until.step(MastersAt::new(Stage::Voting, &masters)), &[ETCD_ANNOUNCED])
        .step(until.step(MastersAt::new(Stage::Ready, &masters)), &[ETCD_SCALED])
        .step(HandOver::new(cluster, layout), &[MASTERS_READY])
        .step(until_retired.step(ControllersReleased::new(&node.hostname, &access)), &[HAND_OVER])
        .step(until_retired.step(ApiReleased::new(cluster, node, &access)), &[CONTROLLERS_RELEASED])
        .step(until_retired.step(EtcdLeft::new(cluster, node, layout)), &[API_RELEASED])
        .step(until_retired.step(complete(layout, &access)), &[ETCD_LEFT])
        .step(until_retired.step(NodeRetired::new(&node.name, &access)), &[BOOTSTRAP_COMPLETE])
        .step(KeysErased::new(layout), &[NODE_RETIRED])
}

/// What installers and people wait for: a state, and not an event that can be missed.
fn complete(layout: &Layout, access: &Arc<Access>) -> Objects {
    let about = About::new(
        BOOTSTRAP_COMPLETE,
        "Note that the bootstrap is complete",
        "from now on this machine may be removed",
    );
    let state_dir = layout.state_dir.clone();
    Objects::new(about, access, move |host| {
        // For those who ask the masters later when each was reached. A record that cannot be read is no reason to stay.
        let records = RunRecord::all(&*host.disk, &state_dir).unwrap_or_default();
        let before = |one: &Progress| one.milestone.id != COMPLETE;
        let reached: Vec<Progress> = milestones::progress(&records).into_iter().filter(before).collect();
        Ok(vec![objects::bootstrap_complete(milestones::times(&reached))])
    })
}
