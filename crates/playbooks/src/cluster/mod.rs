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
mod etcd_member;
mod etcd_place;
mod etcd_vote;
mod fence;
mod footprint;
mod hostname;
mod images;
mod join;
mod join_info;
mod kernel;
mod leave;
mod machine_ids;
pub(crate) mod membership;
mod network;
mod network_add_on;
mod node_identity;
mod node_ready;
mod node_role;
mod objects;
mod options;
mod own_image;
mod pki;
mod preflight;
mod program;
mod record;
mod reset;
mod services;
mod unit_files;

use std::{net::IpAddr, path::Path, sync::Arc};

pub use cluster_dns::ask_dns;
pub use components::{Components, bundle_id, verified as verified_bundle};
use engine::{About, Playbook, PlaybookError};
pub use hostname::HostName;
pub use images::installed as installed_bundle;
pub use join_info::join_command;
pub use kernel::kernel_settings;
pub use network::Network;
pub use node_identity::NodeIdentity;
pub use node_role::NodeRole;
pub use options::Options;
pub use preflight::Preflight;
use render::{
    objects::{self as rendered, Upstream},
    units,
};
pub use reset::{INSTALLED, PKI, Reset, arm_again, hold_still, may_leave, reversal, tidy};
use spec::{BootstrapRole, NetworkAddOn, Node, ValidatedCluster};

pub use self::pki::{Pki, input as pki_input};
use self::{
    admin_kubeconfig::AdminKubeconfig, await_master::AwaitMaster, cluster_dns::ClusterDns, cluster_keys::ClusterKeys,
    configuration::Configuration, encryption::EncryptionKey, etcd_member::EtcdMember, etcd_place::EtcdPlace,
    etcd_vote::EtcdVote, fence::Fence, images::Images, join::Join, join_info::JoinInfo, kernel::KernelSettings,
    machine_ids::AskMasters, membership::Membership, node_ready::NodeReady, objects::Objects, own_image::OwnImage,
    program::Program, record::Record, services::Of, unit_files::UnitFiles,
};
use crate::{
    Layout,
    access::Access,
    ceph,
    preflight::{MachineIds, NobodyToAsk},
};

/// The playbook's name in ledger and events.
pub const NAME: &str = "cluster";

/// The step that looks at the machine before anything is changed.
pub const PREFLIGHT: &str = "preflight";

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

/// All steps for a node.
pub fn playbook(
    cluster: &ValidatedCluster,
    node: &Node,
    layout: &Layout,
    options: &Options,
) -> Result<Playbook, PlaybookError> {
    let of = Of { cluster, node, layout, machine: &options.machine };
    let role = cluster.bootstrap_role(node);
    let membership = Arc::new(Membership::new(cluster, node, layout, options.token.as_ref()));
    let preflight = checks(&of, &membership, &options.skip);
    let prepared = Playbook::new(NAME)
        .step(NodeIdentity::new(node, layout), &[])?
        .step(NodeRole::new(role, layout), &["node-identity"])?
        .step(Network::new(cluster, node), &["node-identity"])?
        .step(HostName::new(cluster, node), &["network"])?
        .step(preflight, &["host-name"])?
        .step(KernelSettings::new(cluster), &["preflight"])?
        .step(of.units(&options.pause_image), &["preflight"])?
        .step(of.containerd(&options.pause_image), &["units"])?
        .step(Images::pause(&options.pause_image), &["containerd"])?
        .step(services::agent(), &["units"])?;
    let ready = match role {
        BootstrapRole::MasterFirst | BootstrapRole::MasterAdditional => master(prepared, &of, &membership, options),
        BootstrapRole::Worker => worker(prepared, &of, &membership),
    };
    let access = Arc::new(Access::new(layout.kubernetes_dir.join("super-admin.conf")));
    let has_own_disk = options.machine.has_own_disk;
    let of = ceph::Of { cluster, node, layout, has_own_disk, access: &access, membership: &membership };
    ceph::steps(ready?.step(OwnImage::new(layout), &["images"])?, &of)
}

/// Only the checks of the machine.
pub fn preflight(cluster: &ValidatedCluster, node: &Node, layout: &Layout, options: &Options) -> Preflight {
    let of = Of { cluster, node, layout, machine: &options.machine };
    checks(&of, &Arc::new(Membership::new(cluster, node, layout, options.token.as_ref())), &options.skip)
}

/// Every service of a node, as it should be on the machine. A step has the name of its service, see [`step_of`].
pub fn services(cluster: &ValidatedCluster, node: &Node, layout: &Layout, options: &Options) -> Vec<render::Service> {
    Of { cluster, node, layout, machine: &options.machine }.services(&options.pause_image)
}

/// The step that starts a service: `kubelet` starts `kubelet.service`.
pub fn step_of(unit: &str) -> &str {
    let name = unit.strip_suffix(".service").unwrap_or(unit);
    name.strip_prefix("blackstart-").unwrap_or(name)
}

/// Who knows the cluster's other machines, seen from this node.
pub fn machine_ids(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Arc<dyn MachineIds> {
    if is_only_master(cluster, node) {
        Arc::new(NobodyToAsk)
    } else {
        Arc::new(AskMasters::new(&Arc::new(Membership::new(cluster, node, layout, None))))
    }
}

fn checks(of: &Of<'_>, membership: &Arc<Membership>, skip: &[String]) -> Preflight {
    let preflight = Preflight::new(of.cluster, of.node, of.layout).skipping(skip.iter().cloned());
    if is_only_master(of.cluster, of.node) {
        preflight
    } else {
        preflight.asking(Arc::new(AskMasters::new(membership)))
    }
}

fn is_only_master(cluster: &ValidatedCluster, node: &Node) -> bool {
    cluster.masters().all(|master| master.name == node.name)
}

/// A master. The first one by name starts the cluster where there is none, with the others that are there; whoever comes
/// later, and whoever lost its disk, joins.
fn master(
    prepared: Playbook,
    of: &Of<'_>,
    membership: &Arc<Membership>,
    options: &Options,
) -> Result<Playbook, PlaybookError> {
    let Of { cluster, node, layout, .. } = of;
    let role = cluster.bootstrap_role(node);
    let leads = role == BootstrapRole::MasterFirst;
    let access = Arc::new(Access::new(layout.kubernetes_dir.join("super-admin.conf")));
    // Where others start the first API server, this node is Ready by theirs long before it has its own.
    let (controllers_after, pods_after) = match cluster.networking().add_on {
        NetworkAddOn::Manifest(_) => ("api-ready", "containerd"),
        NetworkAddOn::Basic | NetworkAddOn::None if leads => ("node-ready", "node-ready"),
        NetworkAddOn::Basic | NetworkAddOn::None => ("node-ready", "api-turn"),
    };
    let started = prepared
        .step(Fence::new(of, membership, options.force_new_cluster), &["units"])?
        .step(ClusterKeys::new(layout, membership, leads), &["fence"])?
        .step(Pki::new(cluster, node, layout), &["cluster-keys"])?
        .step(AdminKubeconfig::new(layout), &["pki"])?
        .step(EncryptionKey::new(layout), &["pki"])?
        .step(EtcdPlace::new(cluster, node, layout), &["pki"])?
        .step(of.etcd(), &["etcd-place"])?
        .step(EtcdVote::new(cluster, node, layout), &["etcd"])?
        .step(EtcdMember::new(layout), &["etcd"])?;
    let started = if leads {
        started
            .step(of.kube_apiserver(), &["encryption-key", "units"])?
            .step(of.kubelet(), &["kube-apiserver", "containerd", "agent"])?
    } else {
        started
            .step(of.api_turn(), &["pki"])?
            .step(of.kube_apiserver(), &["api-turn", "encryption-key", "units"])?
            .step(of.kubelet(), &["etcd", "containerd", "agent"])?
    };
    let started = started
        .step(of.api_ready(), &["kube-apiserver", "etcd-vote"])?
        .step(roles(cluster, &access), &["api-ready"])?
        .step(network_add_on::step(cluster, layout, &access), &["api-ready"])?
        .step(NodeReady::new(&node.name, &access), &["kubelet", "network-add-on"])?
        .step(of.kube_controller_manager(), &[controllers_after])?
        .step(of.kube_scheduler(), &[controllers_after])?
        .step(of.kube_proxy(), &[pods_after, "agent", "pki"])?
        .step(cluster_info(of, &access), &["node-ready", "roles"])?;
    // One token is enough for the cluster.
    let (started, recorded_after) = if leads {
        let informed = started.step(JoinInfo::new(cluster, layout, &access), &["node-ready", "roles"])?;
        (informed, ["join-info", "cluster-info", "etcd-member", "cluster-dns"].as_slice())
    } else {
        (started, ["cluster-info", "etcd-member", "cluster-dns"].as_slice())
    };
    started
        .step(Images::all(), &[pods_after, "pause-image"])?
        .step(
            dns_objects(cluster, options, &access),
            &["node-ready", "images", "kube-controller-manager", "kube-scheduler", "kube-proxy"],
        )?
        .step(ClusterDns::new(cluster), &["dns"])?
        .step(Record::new(&node.name, role, layout), recorded_after)
}

/// A node that joins.
fn worker(prepared: Playbook, of: &Of<'_>, membership: &Arc<Membership>) -> Result<Playbook, PlaybookError> {
    let Of { cluster, node, layout, .. } = of;
    let access = Arc::new(Access::new(layout.kubernetes_dir.join("agent.conf")));
    // Pods of an add-on run before the node is Ready. Otherwise this can wait, and leaves the processors to the others.
    let pods_after = match cluster.networking().add_on {
        NetworkAddOn::Manifest(_) => "containerd",
        NetworkAddOn::Basic | NetworkAddOn::None => "node-ready",
    };
    prepared
        .step(AwaitMaster::new(membership, &layout.kubernetes_dir), &["preflight"])?
        .step(Join::new(membership, &layout.kubernetes_dir), &["await-master"])?
        .step(of.kubelet(), &["join", "containerd", "agent"])?
        .step(of.kube_proxy(), &["join", "agent"])?
        .step(NodeReady::new(&node.name, &access), &["kubelet"])?
        .step(Images::all(), &[pods_after, "pause-image"])?
        .step(Record::new(&node.name, BootstrapRole::Worker, layout), &["node-ready", "images", "kube-proxy"])
}

/// Apart from the others and first: workers wait for the rights of their agents.
fn roles(cluster: &ValidatedCluster, access: &Arc<Access>) -> Objects {
    let about = About::new("roles", "Create the roles", "nodes and people get the rights they need, and no more");
    let objects = rendered::rbac(cluster);
    Objects::new(about, access, move |_| Ok(objects.clone()))
}

fn cluster_info(of: &Of<'_>, access: &Arc<Access>) -> Objects {
    let about = About::new("cluster-info", "Publish the cluster's settings", "kubeadm and its kin find them there");
    // The same from every master, or each would correct the others.
    let published = of.cluster.masters().next().unwrap_or(of.node);
    let (cluster, url) = (of.cluster.clone(), services::api_url(of.cluster, published));
    let ca = of.layout.kubernetes_dir.join("pki/ca.crt");
    let unwanted = rendered::kubeadm_unwanted(of.cluster);
    Objects::new(about, access, move |host| {
        let ca = host.disk.read_optional(&ca)?.unwrap_or_default();
        Ok(rendered::kubeadm(&cluster, &String::from_utf8_lossy(&ca), &url))
    })
    .without(unwanted)
}

/// Names outside the cluster are asked for where cluster.yaml says, else where this node asks. A node without a name server
/// is no reason to have no DNS inside the cluster.
fn dns_objects(cluster: &ValidatedCluster, options: &Options, access: &Arc<Access>) -> Objects {
    let about = About::new("dns", "Start the cluster's DNS", "pods find services by name");
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
        Upstream::Nobody
    }
}

/// Only the steps by which a machine learns who it is.
pub fn detect(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Result<Playbook, PlaybookError> {
    Playbook::new(NAME)
        .step(NodeIdentity::new(node, layout), &[])?
        .step(NodeRole::new(cluster.bootstrap_role(node), layout), &["node-identity"])?
        .step(Network::new(cluster, node), &["node-identity"])?
        .step(HostName::new(cluster, node), &["network"])
}

/// What makes a machine become a node at its next boot: this program, the configuration, the components, our units.
pub fn install(installation: &Installation<'_>) -> Result<Playbook, PlaybookError> {
    let about = About::new("own-units", "Install our units", "they make the machine a node at every boot");
    let own = [units::detect(), units::bootstrap(), units::agent()];
    let all = Playbook::new(NAME).step(UnitFiles::new(about, own), &[])?;
    let all = match installation.program {
        Some(program) => all.step(Program::new(program), &[])?,
        None => all,
    };
    let all = match installation.config {
        Some(config) => all.step(Configuration::new(config, installation.layout), &[])?,
        None => all,
    };
    match installation.bundle {
        Some(bundle) => all.step(Components::new(bundle), &[]),
        None => Ok(all),
    }
}

/// Only the components of a bundle.
pub fn components(bundle: &Path) -> Result<Playbook, PlaybookError> {
    Playbook::new(NAME).step(Components::new(bundle), &[])
}

/// Only the certificates.
pub fn certificates(cluster: &ValidatedCluster, node: &Node, layout: &Layout) -> Result<Playbook, PlaybookError> {
    Playbook::new(NAME).step(Pki::new(cluster, node, layout), &[])
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
            (&[], "# nameserver 10.0.0.1\n", Upstream::Nobody),
            (&[], "", Upstream::Nobody),
        ] {
            assert_eq!(upstream(listed, resolv_conf), expected, "{resolv_conf}");
        }
    }
}
