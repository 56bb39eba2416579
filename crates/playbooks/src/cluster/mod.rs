//! The `cluster` playbook: from a machine with a `cluster.yaml` to a node of the cluster.
//!
//! [`playbook`] is the whole bootstrap. What a node does depends on its role: the first master starts the cluster, every
//! other machine gets what it needs from a master and joins. What is not ordered runs at the same time.

mod admin_kubeconfig;
mod api_ready;
mod api_turn;
mod await_master;
mod cluster_dns;
mod cluster_keys;
mod components;
mod configuration;
mod encryption;
mod etcd_join;
mod etcd_member;
mod etcd_vote;
mod hostname;
pub mod ids;
mod images;
mod join;
mod join_info;
mod kernel;
mod kms_plugin;
mod leave;
mod machine_ids;
mod network;
mod network_add_on;
mod node_identity;
mod node_ready;
mod node_role;
mod objects;
mod options;
mod own_image;
mod owned_resources;
pub(crate) mod pivot;
mod pki;
mod preflight;
mod program;
mod record;
mod reset;
mod services;
mod split_brain;
mod unit_files;

use std::{net::IpAddr, path::Path, sync::Arc};

use checks::{MachineIds, NoPeers};
pub use cluster_dns::ask_dns;
pub use components::{Components, bundle_id, verified as verified_bundle};
use engine::{About, Playbook, PlaybookBuilder, PlaybookError, StepId, Undos};
use host::{Change, HostError};
pub use images::installed as installed_bundle;
pub use join_info::join_command;
pub use kernel::kernel_settings;
pub use node_identity::NodeIdentity;
pub use node_role::NodeRole;
pub use options::Options;
pub use pivot::{Tenure, is_for_masters, static_pods, tenure};
pub use preflight::{Preflight, stage};
use render::{
    objects::{self as rendered, Upstream},
    units,
};
pub use reset::{INSTALLED, KEYS, Reset, arm_again, enable_again, hold_still, may_leave, tidy, undos};
use spec::{BootstrapRole, NetworkAddOn, Node, ValidatedCluster};

pub(crate) use self::objects::Objects;
pub use self::pki::Pki;
use self::{
    admin_kubeconfig::AdminKubeconfig,
    await_master::AwaitMaster,
    cluster_dns::ClusterDns,
    cluster_keys::ClusterKeys,
    configuration::Configuration,
    encryption::EncryptionKey,
    etcd_join::EtcdJoin,
    etcd_member::EtcdMember,
    etcd_vote::EtcdVote,
    hostname::HostName,
    ids::{
        AGENT, API_READY, API_TURN, AWAIT_MASTER, CLUSTER_DNS, CLUSTER_INFO, CLUSTER_KEYS, CONTAINERD, DNS,
        ENCRYPTION_KEY, ETCD, ETCD_JOIN, ETCD_MEMBER, ETCD_VOTE, HOST_NAME, IMAGES, JOIN, JOIN_INFO, KMS_PLUGIN,
        KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_PROXY, KUBE_SCHEDULER, KUBELET, NETWORK, NETWORK_ADD_ON,
        NODE_IDENTITY, NODE_READY, OWN_UNITS, PAUSE_IMAGE, PKI, PREFLIGHT, ROLES, SPLIT_BRAIN_GUARD, UNITS,
    },
    images::Images,
    join::Join,
    join_info::JoinInfo,
    kernel::KernelSettings,
    kms_plugin::KmsPlugin,
    machine_ids::AskMasters,
    network::Network,
    node_ready::NodeReady,
    own_image::OwnImage,
    program::Program,
    record::Record,
    services::NodeContext,
    split_brain::SplitBrainGuard,
    unit_files::UnitFiles,
};
use crate::{access::Access, ceph, membership::Membership};
use nodekit::Layout;

/// The playbook's name in ledger and events.
pub const NAME: &str = "cluster";

/// What is installed on a machine before it is a node.
pub struct Installation<'a> {
    /// This program, where it is not in its place yet.
    pub program: Option<&'a Path>,
    /// A bundle, where its components are not installed yet.
    pub bundle: Option<&'a Path>,
    /// The node's configuration directory.
    pub config: Option<&'a Path>,
    /// Where things are on the machine.
    pub layout: &'a Layout,
}

/// A list that is being written down.
type List<'a> = PlaybookBuilder<'a>;

/// All steps for a node.
pub fn playbook(
    cluster: &ValidatedCluster,
    node: &Node,
    layout: &Layout,
    options: &Options,
) -> Result<Playbook, PlaybookError> {
    let context = NodeContext { cluster, node, layout, machine: &options.machine };
    let membership = Arc::new(Membership::new(cluster, node, layout, options.token.as_ref()));
    let undos = undos(&Reset::of(layout));
    let list = prepared(Playbook::undone_by(&undos), &context, &membership, options);
    let list = match cluster.bootstrap_role(node) {
        BootstrapRole::MasterFirst | BootstrapRole::MasterAdditional => master(list, &context, &membership, options),
        BootstrapRole::Worker => worker(list, &context, &membership),
        BootstrapRole::Bootstrap => return pivot::bootstrap(list, &context, &membership, options).build(),
    };
    let access = Arc::new(Access::new(layout.kubernetes_dir.join("super-admin.conf")));
    let has_own_disk = options.machine.has_own_disk;
    let context = ceph::CephContext {
        cluster,
        node,
        layout,
        has_own_disk,
        access: &access,
        membership: &membership,
        after: NODE_READY,
    };
    ceph::steps(list.step(OwnImage, &[IMAGES]), &context).build()
}

/// A machine on which services can be started, whatever it is going to be.
fn prepared<'a>(
    list: List<'a>,
    context: &NodeContext<'_>,
    membership: &Arc<Membership>,
    options: &Options,
) -> List<'a> {
    identified(list, context.cluster, context.node, context.layout)
        .step(checks(context, membership, &options.skip), &[HOST_NAME])
        .step(KernelSettings::new(context.cluster), &[PREFLIGHT])
        .step(context.units(&options.pause_image), &[PREFLIGHT])
        .step(context.containerd(&options.pause_image), &[UNITS])
        .step(Images::pause(&options.pause_image), &[CONTAINERD])
        .step(services::agent(), &[UNITS])
}

/// A machine that knows who it is.
fn identified<'a>(list: List<'a>, cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> List<'a> {
    list.step(NodeIdentity::new(node, layout), &[])
        .step(NodeRole::new(cluster.bootstrap_role(node), layout), &[NODE_IDENTITY])
        .step(Network::new(cluster, node), &[NODE_IDENTITY])
        .step(HostName::new(cluster, node), &[NETWORK])
}

/// A master. The first one by name starts the cluster where there is none, with the others that are there; one that comes
/// later, or has lost its disk, joins.
fn master<'a>(list: List<'a>, context: &NodeContext<'_>, membership: &Arc<Membership>, options: &Options) -> List<'a> {
    let NodeContext { cluster, node, layout, .. } = context;
    let role = cluster.bootstrap_role(node);
    // A bootstrap node starts the cluster in place of the first master, which joins like the others.
    let was_handed_over = cluster.bootstrap_node().is_some();
    let leads = role == BootstrapRole::MasterFirst && !was_handed_over;
    let access = Arc::new(Access::new(layout.kubernetes_dir.join("super-admin.conf")));
    // Where others start the first API server, this node is Ready by theirs long before it has its own.
    let kubelet_after = if leads { KUBE_APISERVER } else { ETCD };
    let (controllers_after, pods_after) = match cluster.networking().add_on {
        NetworkAddOn::Manifest(_) => (API_READY, CONTAINERD),
        NetworkAddOn::Basic | NetworkAddOn::None => (NODE_READY, if leads { NODE_READY } else { API_TURN }),
    };
    let dns_after = [NODE_READY, IMAGES, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER, KUBE_PROXY];
    list.step(SplitBrainGuard::new(context, membership, options.force_new_cluster), &[UNITS])
        .step(ClusterKeys::new(layout, membership, leads), &[SPLIT_BRAIN_GUARD])
        .step(Pki::new(cluster, node, layout), &[CLUSTER_KEYS])
        .step(AdminKubeconfig::new(layout), &[PKI])
        .step(EncryptionKey::new(cluster, layout), &[PKI])
        .step(EtcdJoin::new(cluster, node, layout), &[PKI])
        .step(context.etcd(), &[ETCD_JOIN])
        .step(EtcdVote::new(cluster, node, layout), &[ETCD])
        .step(EtcdMember::new(layout), &[ETCD])
        .step_if(cluster.kms().is_some(), KmsPlugin::new(layout), &[ENCRYPTION_KEY])
        // A learner answers no API server.
        .step_if(!leads, context.api_turn(), &[if was_handed_over { ETCD_VOTE } else { PKI }])
        .step(context.kube_apiserver(), &[API_TURN, ENCRYPTION_KEY, KMS_PLUGIN, UNITS])
        .step(context.kubelet(), &[kubelet_after, CONTAINERD, AGENT])
        .step(context.api_ready(), &[KUBE_APISERVER, ETCD_VOTE])
        .step(roles(cluster, &access), &[API_READY])
        .step(network_add_on::step(cluster, layout, &access), &[API_READY])
        .step(NodeReady::new(&node.name, &access), &[KUBELET, NETWORK_ADD_ON])
        .step_if(was_handed_over, pivot::Oc, &[PREFLIGHT])
        .step_if(was_handed_over, pivot::version_operator(cluster, &access), &[NODE_READY, ROLES])
        .step(context.kube_controller_manager(), &[controllers_after])
        .step(context.kube_scheduler(), &[controllers_after])
        .step(context.kube_proxy(), &[pods_after, AGENT, PKI])
        .step(cluster_info(context, &access), &[NODE_READY, ROLES])
        // One token is enough for the cluster.
        .step_if(role == BootstrapRole::MasterFirst, JoinInfo::new(cluster, layout, &access), &[NODE_READY, ROLES])
        .step(Images::all(), &[pods_after, PAUSE_IMAGE])
        .step(dns_objects(cluster, options, &access), &dns_after)
        .step(ClusterDns::new(cluster), &[DNS])
        .step(Record::new(&node.name, role, layout), &[JOIN_INFO, CLUSTER_INFO, ETCD_MEMBER, CLUSTER_DNS])
}

/// A node that joins.
fn worker<'a>(list: List<'a>, context: &NodeContext<'_>, membership: &Arc<Membership>) -> List<'a> {
    let NodeContext { cluster, node, layout, .. } = context;
    let access = Arc::new(Access::new(layout.kubernetes_dir.join("agent.conf")));
    // Pods of an add-on run before the node is Ready. Otherwise this can wait, and leaves the processors to the others.
    let pods_after = match cluster.networking().add_on {
        NetworkAddOn::Manifest(_) => CONTAINERD,
        NetworkAddOn::Basic | NetworkAddOn::None => NODE_READY,
    };
    list.step(AwaitMaster::new(membership, &layout.kubernetes_dir), &[PREFLIGHT])
        .step(Join::new(membership, &layout.kubernetes_dir), &[AWAIT_MASTER])
        .step(context.kubelet(), &[JOIN, CONTAINERD, AGENT])
        .step(context.kube_proxy(), &[JOIN, AGENT])
        .step(NodeReady::new(&node.name, &access), &[KUBELET])
        .step(Images::all(), &[pods_after, PAUSE_IMAGE])
        .step(Record::new(&node.name, BootstrapRole::Worker, layout), &[NODE_READY, IMAGES, KUBE_PROXY])
}

/// Only the checks of the machine.
pub fn preflight(cluster: &ValidatedCluster, node: &Node, layout: &Layout, options: &Options) -> Preflight {
    let context = NodeContext { cluster, node, layout, machine: &options.machine };
    checks(&context, &Arc::new(Membership::new(cluster, node, layout, options.token.as_ref())), &options.skip)
}

/// Every service of a node, as it should be on the machine. A step has the name of its service, see [`step_of`].
pub fn services(cluster: &ValidatedCluster, node: &Node, layout: &Layout, options: &Options) -> Vec<render::Service> {
    NodeContext { cluster, node, layout, machine: &options.machine }.services(&options.pause_image)
}

/// The step that starts a service: `kubelet` starts `kubelet.service`.
pub fn step_of(unit: &str) -> Option<StepId> {
    let name = unit.strip_suffix(".service").unwrap_or(unit);
    let name = name.strip_prefix("blackstart-").unwrap_or(name);
    ids::ALL.iter().copied().find(|id| id.as_str() == name)
}

/// Who knows the cluster's other machines, seen from this node.
pub fn machine_ids(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Arc<dyn MachineIds> {
    if is_only_master(cluster, node) {
        Arc::new(NoPeers)
    } else {
        Arc::new(AskMasters::new(&Arc::new(Membership::new(cluster, node, layout, None))))
    }
}

fn checks(context: &NodeContext<'_>, membership: &Arc<Membership>, skip: &[String]) -> Preflight {
    let preflight = Preflight::new(context.cluster, context.node, context.layout).skipping(skip.iter().cloned());
    if is_only_master(context.cluster, context.node) {
        preflight
    } else {
        preflight.asking(Arc::new(AskMasters::new(membership)))
    }
}

fn is_only_master(cluster: &ValidatedCluster, node: &Node) -> bool {
    cluster.control_plane().all(|master| master.name == node.name)
}

/// Apart from the others and first: workers wait for the rights of their agents.
fn roles(cluster: &ValidatedCluster, access: &Arc<Access>) -> Objects {
    let about = About::new(ROLES, "Create the roles", "nodes and people get the rights they need, and no more");
    let objects = rendered::rbac(cluster);
    Objects::new(about, access, move |_| Ok(objects.clone()))
}

fn cluster_info(context: &NodeContext<'_>, access: &Arc<Access>) -> Objects {
    let about = About::new(CLUSTER_INFO, "Publish the cluster's settings", "kubeadm and its kin find them there");
    // The same from every master, or each would correct the others.
    let published = context.cluster.masters().next().unwrap_or(context.node);
    let (cluster, url) = (context.cluster.clone(), services::api_url(context.cluster, published));
    let ca = context.layout.kubernetes_dir.join("pki/ca.crt");
    let unwanted = rendered::kubeadm_unwanted(context.cluster);
    Objects::new(about, access, move |host| {
        let ca = host.disk.read_optional(&ca)?.unwrap_or_default();
        Ok(rendered::kubeadm(&cluster, &String::from_utf8_lossy(&ca), &url))
    })
    .without(unwanted)
}

/// Names outside the cluster are asked for where cluster.yaml says, else where this node asks. A node without a name server
/// is no reason to have no DNS inside the cluster.
fn dns_objects(cluster: &ValidatedCluster, options: &Options, access: &Arc<Access>) -> Objects {
    let about = About::new(DNS, "Start the cluster's DNS", "pods find services by name");
    let (cluster, image) = (cluster.clone(), options.dns_image.clone());
    let resolv_conf = options.machine.resolv_conf.clone();
    Objects::new(about, access, move |host| {
        let text = host.disk.read_optional(&resolv_conf)?.unwrap_or_default();
        let upstream = upstream(&cluster.networking().dns, &String::from_utf8_lossy(&text));
        Ok(rendered::coredns(&cluster, &image, upstream))
    })
}

fn upstream<'a>(listed: &'a [IpAddr], resolv_conf: &str) -> Upstream<'a> {
    let names_one = |line: &str| line.split_whitespace().next() == Some("nameserver");
    if !listed.is_empty() {
        Upstream::Servers(listed)
    } else if resolv_conf.lines().any(names_one) {
        Upstream::OfNode
    } else {
        Upstream::None
    }
}

/// Only the steps by which a machine learns who it is.
pub fn detect(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Result<Playbook, PlaybookError> {
    let undos = undos(&Reset::of(layout));
    identified(Playbook::undone_by(&undos), cluster, node, layout).build()
}

/// What makes a machine become a node at its next boot: this program, the configuration, the components, our units.
pub fn install(installation: &Installation<'_>) -> Result<Playbook, PlaybookError> {
    let Installation { program, bundle, config, layout } = installation;
    let about = About::new(OWN_UNITS, "Install our units", "they make the machine a node at every boot");
    Playbook::undone_by(&undos(&Reset::of(layout)))
        .step(UnitFiles::new(about, own_units()), &[])
        .step_some(program.map(Program::new), &[])
        .step_some(config.map(|config| Configuration::new(config, layout)), &[])
        .step_some(bundle.map(Components::new), &[])
        .build()
}

/// The units by which a machine becomes a node, and stays one.
pub fn own_units() -> [render::Service; 3] {
    [units::detect(), units::bootstrap(), units::agent()]
}

/// The files of a configuration directory of this computer, as they are on the node.
pub fn configuration(from: &Path, layout: &Layout) -> Result<Vec<Change>, HostError> {
    Configuration::new(from, layout).wanted()
}

/// Only the components of a bundle.
pub fn components(bundle: &Path) -> Result<Playbook, PlaybookError> {
    Playbook::undone_by(&Undos::new(NAME)).step(Components::new(bundle), &[]).build()
}

/// Only the certificates.
pub fn certificates(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Result<Playbook, PlaybookError> {
    Playbook::undone_by(&Undos::new(NAME)).step(Pki::new(cluster, node, layout), &[]).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_asked_for_names_outside() {
        let listed = ["192.168.1.1".parse().unwrap()];
        for (listed, resolv_conf, expected) in [
            (&listed[..], "", Upstream::Servers(&listed)),
            (&listed[..], "nameserver 10.0.0.1\n", Upstream::Servers(&listed)),
            (&[], "search example.org\nnameserver 10.0.0.1\n", Upstream::OfNode),
            (&[], "# nameserver 10.0.0.1\n", Upstream::None),
            (&[], "", Upstream::None),
        ] {
            assert_eq!(upstream(listed, resolv_conf), expected, "{resolv_conf}");
        }
    }
}
