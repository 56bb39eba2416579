//! What the rest of the program works with: a cluster whose description has been checked.
//!
//! Only this crate can make a [`ValidatedCluster`], so code that holds one need not check anything again.

mod ceph;

use std::{collections::BTreeSet, fmt, net::IpAddr, path::PathBuf, time::Duration};

use ipnet::IpNet;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

pub use ceph::{Ceph, Osd, OsdStore};

/// A cluster whose description has been read and checked.
#[derive(Debug, Clone)]
pub struct ValidatedCluster {
    pub(crate) name: String,
    pub(crate) kubernetes_version: Version,
    pub(crate) networking: Networking,
    pub(crate) api: Api,
    pub(crate) bootstrap: Bootstrap,
    pub(crate) kms: Option<Kms>,
    pub(crate) ceph: Option<Ceph>,
    /// Those of the permanent cluster.
    pub(crate) nodes: Vec<Node>,
    pub(crate) bootstrap_node: Option<Node>,
}

impl ValidatedCluster {
    /// The cluster's name, a DNS label.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The Kubernetes version of all components.
    pub fn kubernetes_version(&self) -> Version {
        self.kubernetes_version
    }

    /// Networks, DNS and the network add-on.
    pub fn networking(&self) -> &Networking {
        &self.networking
    }

    /// How the API server is reached.
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// How nodes get in.
    pub fn bootstrap(&self) -> &Bootstrap {
        &self.bootstrap
    }

    /// The KMS that encrypts Secrets in etcd; `None` where masters do it with a key of their own.
    pub fn kms(&self) -> Option<&Kms> {
        self.kms.as_ref()
    }

    /// Ceph's settings; `None` where no node has a Ceph role.
    pub fn ceph(&self) -> Option<&Ceph> {
        self.ceph.as_ref()
    }

    /// All nodes of the permanent cluster, sorted by name. The temporary bootstrap node is not one of them.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node of the permanent cluster of that name.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.binary_search_by(|node| node.name.as_str().cmp(name)).ok().map(|index| &self.nodes[index])
    }

    /// The temporary machine from which the masters take the cluster over; `None` where the first master starts it.
    pub fn bootstrap_node(&self) -> Option<&Node> {
        self.bootstrap_node.as_ref()
    }

    /// Everything that is switched on: the nodes, and behind them the bootstrap node if there is one.
    pub fn machines(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().chain(&self.bootstrap_node)
    }

    /// The machine of that name: a node, or the bootstrap node.
    pub fn machine(&self, name: &str) -> Option<&Node> {
        self.node(name).or_else(|| self.bootstrap_node().filter(|node| node.name == name))
    }

    /// Every machine that runs a control plane, the one that starts it first: the bootstrap node as long as there is one,
    /// then the masters. Machines that look for the cluster ask these.
    pub fn control_plane(&self) -> impl Iterator<Item = &Node> {
        self.bootstrap_node.iter().chain(self.masters())
    }

    /// The masters, sorted by name. There is at least one.
    pub fn masters(&self) -> impl Iterator<Item = &Node> {
        self.with_role(Role::Master)
    }

    /// The nodes with a role, sorted by name.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| node.has(role))
    }

    /// What a node is in the bootstrap: the bootstrap node, the first master by sorted name, another master, or a worker.
    pub fn bootstrap_role(&self, node: &Node) -> BootstrapRole {
        if node.has(Role::Bootstrap) {
            BootstrapRole::Bootstrap
        } else if !node.has(Role::Master) {
            BootstrapRole::Worker
        } else if self.masters().next().is_some_and(|first| first.name == node.name) {
            BootstrapRole::MasterFirst
        } else {
            BootstrapRole::MasterAdditional
        }
    }
}

/// Networks, DNS and the network add-on.
#[derive(Debug, Clone)]
pub struct Networking {
    /// Addresses of pods.
    pub pod_cidr: IpNet,
    /// Prefix length of the part of `pod_cidr` that each node gets.
    pub pod_prefix_per_node: u8,
    /// Addresses of services.
    pub service_cidr: IpNet,
    /// The network the nodes are in; its prefix is that of every node's address.
    pub node_cidr: IpNet,
    /// The nodes' default gateway; `None` where the configuration says there is none.
    pub gateway: Option<IpAddr>,
    /// Name servers for the nodes.
    pub dns: Vec<IpAddr>,
    /// The cluster's DNS domain, `cluster.local` by default.
    pub domain: String,
    /// Which interface carries the node's address.
    pub interface: InterfaceChoice,
    /// What connects the pods.
    pub add_on: NetworkAddOn,
}

impl Networking {
    /// The address of the `kubernetes` service: the first usable one of the service network.
    pub fn api_service_ip(&self) -> IpAddr {
        nth_address(self.service_cidr, 1)
    }

    /// The address of the cluster's DNS: the tenth one of the service network, as kubeadm has it.
    pub fn dns_service_ip(&self) -> IpAddr {
        nth_address(self.service_cidr, 10)
    }
}

impl Networking {
    /// The part of the pod network that belongs to the node at this address; `None` where addresses cannot decide it.
    ///
    /// They can where the pod network has a part for every address of the node network, as by default: the node at
    /// 192.168.1.21 has 10.244.21.0/24. No allocator has to hand parts out then, a node knows its own before there is any API,
    /// and it stays the same whatever nodes come and go.
    pub fn pod_cidr_of(&self, node: IpAddr) -> Option<IpNet> {
        let bits = self.node_cidr.max_prefix_len();
        let (hosts, parts) =
            (bits - self.node_cidr.prefix_len(), self.pod_prefix_per_node.checked_sub(self.pod_cidr.prefix_len())?);
        if parts < hosts || !self.node_cidr.contains(&node) {
            return None;
        }
        let shift = self.pod_cidr.max_prefix_len() - self.pod_prefix_per_node;
        let first = match (node, self.node_cidr.network(), self.pod_cidr.network()) {
            (IpAddr::V4(node), IpAddr::V4(nodes), IpAddr::V4(pods)) => {
                IpAddr::V4((u32::from(pods) + ((u32::from(node) - u32::from(nodes)) << shift)).into())
            }
            (IpAddr::V6(node), IpAddr::V6(nodes), IpAddr::V6(pods)) => {
                IpAddr::V6((u128::from(pods) + ((u128::from(node) - u128::from(nodes)) << shift)).into())
            }
            _ => return None,
        };
        IpNet::new(first, self.pod_prefix_per_node).ok()
    }
}

/// The n-th address behind the network's own; the caller knows that the network is large enough.
pub(crate) fn nth_address(network: IpNet, n: u8) -> IpAddr {
    match network.network() {
        IpAddr::V4(base) => IpAddr::V4((u32::from(base) + u32::from(n)).into()),
        IpAddr::V6(base) => IpAddr::V6((u128::from(base) + u128::from(n)).into()),
    }
}

/// Which interface carries the node's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterfaceChoice {
    /// The one whose MAC is listed for the node.
    ByMac,
    /// The one of this name.
    Named(String),
}

/// What connects the pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkAddOn {
    /// Our own: ptp + host-local and routes, no image needed.
    Basic,
    /// Manifests applied once the API answers (Calico as in the original scripts, or any other).
    Manifest(String),
    /// None: the operator installs one by hand.
    None,
}

/// How the API server is reached.
#[derive(Debug, Clone)]
pub struct Api {
    /// Port of every API server.
    pub port: u16,
    /// A load balancer or VIP in front of the masters, if there is one.
    pub endpoint: Option<Endpoint>,
    /// Further names and addresses the API server's certificate must carry.
    pub extra_sans: Vec<San>,
}

/// Host and port of something outside the cluster's nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address.
    pub host: San,
    /// Port.
    pub port: u16,
}

/// A name or an address in a certificate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum San {
    /// A DNS name.
    Dns(String),
    /// An IP address.
    Ip(IpAddr),
}

/// How nodes get in.
#[derive(Debug, Clone)]
pub struct Bootstrap {
    /// The token embedded in cluster.yaml, if there is one.
    pub token: Option<Token>,
    /// What happens to a machine that is not in the list of nodes.
    pub unlisted_nodes: UnlistedNodes,
    /// How long the secret of a sealed node is good for joining.
    pub secret_ttl: SecretTtl,
}

/// A KMS v2 plugin on every master.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kms {
    /// It stands in etcd before every value that was encrypted by it.
    pub name: String,
    /// The plugin's socket.
    pub socket: PathBuf,
    /// The deadline of one call.
    pub timeout: Duration,
}

/// How long the secret of a sealed node is good for joining.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretTtl {
    /// For so long after it was made.
    After(Duration),
    /// As long as the cluster's join key is.
    Never,
}

impl Default for SecretTtl {
    /// Long enough to bring machines up, short enough that a medium which is found later is worth nothing.
    fn default() -> Self {
        Self::After(Duration::from_hours(30 * 24))
    }
}

/// What happens to a machine that asks to join and is not in the list of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnlistedNodes {
    /// It is refused.
    #[default]
    Deny,
    /// It may join as a worker with a token, by `kubeadm join` for example.
    Allow,
}

/// A bootstrap token, `id.secret` as kubeadm writes it.
#[derive(Debug, Clone)]
pub struct Token {
    /// Six characters; not secret.
    pub id: String,
    /// Sixteen characters.
    pub secret: SecretString,
}

/// One machine of the cluster.
#[derive(Debug, Clone)]
pub struct Node {
    /// The Node object's name, a DNS subdomain.
    pub name: String,
    /// The machine's host name; the node's name by default.
    pub hostname: String,
    /// The node's address inside `networking.node_cidr`.
    pub ip: IpAddr,
    /// Roles, without duplicates.
    pub roles: BTreeSet<Role>,
    /// What identifies the machine.
    pub hardware: Hardware,
    /// The OSDs of a node with the role `ceph-osd`, as they are listed; empty for any other.
    pub osds: Vec<Osd>,
}

impl Node {
    /// Whether the node has this role.
    pub fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// Whether etcd and an API server run on it, for good or until the masters have taken over.
    pub fn runs_control_plane(&self) -> bool {
        self.has(Role::Master) || self.has(Role::Bootstrap)
    }

    /// Whether the node has any role in Ceph.
    pub fn has_ceph_role(&self) -> bool {
        self.roles.iter().any(|role| role.is_ceph())
    }
}

/// What identifies a machine.
#[derive(Debug, Clone, Default)]
pub struct Hardware {
    /// MAC addresses of any of its interfaces.
    pub mac_addresses: Vec<Mac>,
    /// `/sys/class/dmi/id/product_uuid`, lower case.
    pub dmi_uuid: Option<String>,
    /// `/sys/class/dmi/id/product_serial`.
    pub dmi_serial: Option<String>,
}

/// A role a node can have; `control-plane` is read as `master`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Runs the control plane.
    Master,
    /// Runs workloads.
    Worker,
    /// Runs a Ceph monitor.
    CephMon,
    /// Runs Ceph OSDs.
    CephOsd,
    /// Runs a Ceph manager.
    CephMgr,
    /// Holds the cluster until its masters have taken it over, and is gone then.
    Bootstrap,
}

impl Role {
    /// Whether it is a role in Ceph.
    pub fn is_ceph(self) -> bool {
        matches!(self, Self::CephMon | Self::CephOsd | Self::CephMgr)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Master => "master",
            Self::Worker => "worker",
            Self::CephMon => "ceph-mon",
            Self::CephOsd => "ceph-osd",
            Self::CephMgr => "ceph-mgr",
            Self::Bootstrap => "bootstrap",
        })
    }
}

/// What a node is in the bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BootstrapRole {
    /// Starts the cluster.
    MasterFirst,
    /// Joins as a master.
    MasterAdditional,
    /// Joins as a worker.
    Worker,
    /// Holds the cluster until its masters have taken it over.
    Bootstrap,
}

impl BootstrapRole {
    /// Whether it is a master of the permanent cluster.
    pub fn is_master(self) -> bool {
        matches!(self, Self::MasterFirst | Self::MasterAdditional)
    }
}

impl fmt::Display for BootstrapRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MasterFirst => "master-first",
            Self::MasterAdditional => "master-additional",
            Self::Worker => "worker",
            Self::Bootstrap => "bootstrap",
        })
    }
}

/// A MAC address; reads `aa:bb:cc:dd:ee:ff`, `AA-BB-…`, `aabb.ccdd.eeff` and `aabbccddeeff`, writes the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, rest @ ..] = self.0;
        write!(f, "{first:02x}")?;
        rest.iter().try_for_each(|byte| write!(f, ":{byte:02x}"))
    }
}

/// A Kubernetes version, `1.36.3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// First number.
    pub major: u16,
    /// Second number.
    pub minor: u16,
    /// Third number.
    pub patch: u16,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use crate::check_text;

    #[test]
    fn addresses_decide_where_there_are_enough_parts() {
        for (networking, ip, expected) in [
            ("", "192.168.1.21", Some("10.244.21.0/24")),
            ("node_cidr: 10.20.0.0/22, pod_cidr: 10.128.0.0/14", "10.20.1.21", Some("10.129.21.0/24")),
            ("node_cidr: 10.20.0.0/22, pod_cidr: 10.128.0.0/16", "10.20.1.21", None),
            (
                "node_cidr: 10.20.0.0/24, pod_cidr: 10.128.0.0/16, pod_prefix_per_node: 26",
                "10.20.0.5",
                Some("10.128.1.64/26"),
            ),
            (
                "node_cidr: 'fd01::/112', pod_cidr: 'fd02::/48', pod_prefix_per_node: 64",
                "fd01::15",
                Some("fd02:0:0:15::/64"),
            ),
            ("", "fd01::15", None),
        ] {
            let text = format!(
                "cluster: {{name: a, networking: {{{networking}}}}}\nnodes:\n- {{name: m, ip: '{ip}', roles: [master], \
                 hardware: {{mac_addresses: ['52:54:00:00:00:01']}}}}\n"
            );
            let checked = check_text(&text);
            let cluster = checked.cluster.unwrap_or_else(|| panic!("{:?}", checked.problems));
            let part = cluster.networking().pod_cidr_of(ip.parse().unwrap()).map(|part| part.to_string());
            assert_eq!(part.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn an_address_of_another_network_has_no_part() {
        let text = "cluster: {name: a}\nnodes:\n- {name: m, ip: 192.168.1.1, roles: [master], \
                    hardware: {mac_addresses: ['52:54:00:00:00:01']}}\n";
        let text = text.replace("{name: a}", "{name: a, networking: {gateway: none}}");
        let cluster = check_text(&text).cluster.unwrap();
        assert_eq!(cluster.networking().pod_cidr_of("192.168.2.1".parse().unwrap()), None);
    }
}
