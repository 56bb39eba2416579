//! The temporary bootstrap node: a control plane as static pods on a machine of its own, from which the masters take over.
//!
//! ```text
//! raise      split-brain guard ─► keys, PKI ─► kubelet ─► etcd-pod, kube-apiserver-pod ─► API ready ─┬─ controllers' pods
//!                                                                                                  └─ roles, add-on …
//! wait       masters-ready: every master has a vote in etcd, an API server that is ready, and a Ready Node
//! hand over  hand-over ─► controllers-released ─► api-released ─► etcd-left ─► bootstrap-complete
//! retire     node-retired ─► keys-erased
//! ```
//! Masters run their usual list: they find a cluster and join it. What is raised here goes down again in the opposite order,
//! each part only when a master does its work. `hand-over` is a file, synced before the first part is given up: a run that
//! finds it raises nothing again ([`Until`]) and goes on giving up. To add a step: a file here, its name in
//! `cluster/ids.rs`, its line in [`bootstrap`].

mod api_released;
mod controllers_released;
mod etcd_left;
mod hand_over;
mod keys_erased;
mod kubeconfigs;
mod masters_ready;
mod node_retired;
mod port;
mod static_pod;
mod until;

use std::sync::Arc;

use engine::About;
use render::objects;
use spec::ports;

use self::{
    api_released::ApiReleased, controllers_released::ControllersReleased, etcd_left::EtcdLeft, hand_over::HandOver,
    keys_erased::KeysErased, kubeconfigs::Kubeconfigs, masters_ready::MastersReady, node_retired::NodeRetired,
    static_pod::StaticPod, until::Until,
};
use super::{
    ClusterKeys, EncryptionKey, List, Membership, NodeContext, NodeReady, Objects, Options, Pki, SplitBrainGuard,
    cluster_info,
    ids::{
        AGENT, API_READY, API_RELEASED, BOOTSTRAP_COMPLETE, CLUSTER_KEYS, CONTAINERD, CONTROLLERS_RELEASED,
        ENCRYPTION_KEY, ETCD_LEFT, ETCD_POD, HAND_OVER, KUBE_APISERVER_POD, KUBE_CONTROLLER_MANAGER_POD,
        KUBE_SCHEDULER_POD, KUBECONFIGS, KUBELET, MASTERS_READY, NETWORK_ADD_ON, NODE_READY, NODE_RETIRED, PAUSE_IMAGE,
        PKI, ROLES, SPLIT_BRAIN_GUARD, UNITS,
    },
    network_add_on, roles,
    services::api_url,
};
use crate::{access::Access, service::Probe};

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
    let until = Until::new(hand_over::decision(layout));
    let until_retired = Until::new(keys_erased::retired(layout));
    let pod = |about, process, probe| StaticPod::new(about, &process, &options.pause_image, probe);
    let etcd = pod(
        About::new(ETCD_POD, "Start etcd as a static pod", "it holds everything the cluster knows, alone at first"),
        render::etcd_alone(cluster, node),
        Probe::etcd(layout.kubernetes_dir.clone()),
    );
    let api_server = pod(
        About::new(KUBE_APISERVER_POD, "Start the API server as a static pod", "masters and workers find a cluster"),
        render::kube_apiserver_process(cluster, node),
        Probe::api_answers(api_url(cluster, node), layout.kubernetes_dir.join("pki/ca.crt")),
    );
    let controller_manager = pod(
        About::new(
            KUBE_CONTROLLER_MANAGER_POD,
            "Start the controller manager as a static pod",
            "it reconciles objects",
        ),
        render::kube_controller_manager_process(cluster, node),
        Probe::Port(ports::CONTROLLER_MANAGER),
    );
    let scheduler = pod(
        About::new(KUBE_SCHEDULER_POD, "Start the scheduler as a static pod", "it finds a node for every pod"),
        render::kube_scheduler_process(cluster, node),
        Probe::Port(ports::SCHEDULER),
    );
    list.step(until.step(SplitBrainGuard::new(context, membership, options.force_new_cluster)), &[UNITS])
        .step(until.step(ClusterKeys::new(layout, membership, true)), &[SPLIT_BRAIN_GUARD])
        .step(until.step(Pki::new(cluster, node, layout)), &[CLUSTER_KEYS])
        .step(until.step(Kubeconfigs::new(cluster, node, layout)), &[PKI])
        .step(until.step(EncryptionKey::new(cluster, layout)), &[PKI])
        .step(until.step(context.kubelet()), &[PKI, CONTAINERD, AGENT])
        .step(until.step(etcd), &[KUBELET, PAUSE_IMAGE])
        .step(until.step(api_server), &[KUBELET, PAUSE_IMAGE, ENCRYPTION_KEY])
        .step(until.step(context.api_ready()), &[ETCD_POD, KUBE_APISERVER_POD])
        // Not earlier: without an API they end, and the kubelet lets what has ended wait.
        .step(until.step(controller_manager), &[API_READY])
        .step(until.step(scheduler), &[API_READY])
        .step(until.step(roles(cluster, &access)), &[API_READY, KUBECONFIGS])
        .step(until.step(network_add_on::step(cluster, layout, &access)), &[API_READY, KUBECONFIGS])
        .step(until.step(cluster_info(context, &access)), &[ROLES])
        .step(until.step(NodeReady::new(&node.name, &access)), &[KUBELET, NETWORK_ADD_ON])
        .step(
            until.step(MastersReady::new(cluster, layout, &access)),
            &[NODE_READY, ROLES, KUBE_CONTROLLER_MANAGER_POD, KUBE_SCHEDULER_POD],
        )
        .step(HandOver::new(cluster, layout), &[MASTERS_READY])
        .step(until_retired.step(ControllersReleased::new(&node.name, &access)), &[HAND_OVER])
        .step(until_retired.step(ApiReleased::new(cluster, node, &access)), &[CONTROLLERS_RELEASED])
        .step(until_retired.step(EtcdLeft::new(cluster, node, layout)), &[API_RELEASED])
        .step(until_retired.step(complete(&access)), &[ETCD_LEFT])
        .step(until_retired.step(NodeRetired::new(&node.name, &access)), &[BOOTSTRAP_COMPLETE])
        .step(KeysErased::new(layout), &[NODE_RETIRED])
}

/// What installers and people wait for: a state, and not an event that can be missed.
fn complete(access: &Arc<Access>) -> Objects {
    let about = About::new(
        BOOTSTRAP_COMPLETE,
        "Note that the bootstrap is complete",
        "from now on this machine may be removed",
    );
    Objects::new(about, access, |_| Ok(vec![objects::bootstrap_complete()]))
}
