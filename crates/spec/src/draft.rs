//! All files side by side with defaults filled in: what the checks look at.

use std::{
    collections::{BTreeSet, HashMap},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::{
    cluster::{Mac, Role, nth_address},
    file::{ClusterSection, HardwareSection, NetworkingSection, NodeFacts, NodeSection, OsdSection},
    location::{List, Location, Spanned},
    values::{DmiSerial, DmiUuid, Gateway, NodeName},
};

/// A cluster as described, not yet checked.
pub(crate) struct Draft<'a> {
    pub(crate) cluster: &'a ClusterSection,
    pub(crate) nodes: Vec<DraftNode<'a>>,
    /// Where the list of nodes stands.
    pub(crate) nodes_location: Location,
    /// Every entry of the list could be read, so that what is not there is missing.
    pub(crate) nodes_complete: bool,
    pub(crate) node_files: &'a [NodeFileFacts<'a>],
    pub(crate) networks: Networks,
}

/// What a node file says, and which file it is.
pub(crate) struct NodeFileFacts<'a> {
    pub(crate) file_name: &'a str,
    pub(crate) facts: NodeFacts,
}

/// A node of cluster.yaml, with its node file if there is one.
pub(crate) struct DraftNode<'a> {
    pub(crate) listed: &'a NodeSection,
    pub(crate) facts: Option<&'a NodeFacts>,
}

/// The networks with defaults filled in. Where the section has mistakes only what is given counts, and the rest is `None`: a
/// default in the place of a misspelt key would give false alarms.
#[derive(Debug, Clone)]
pub(crate) struct Networks {
    /// `None` also where no node has a readable address to derive it from.
    pub(crate) node: Option<Setting<IpNet>>,
    pub(crate) pod: Option<Setting<IpNet>>,
    pub(crate) pod_prefix_per_node: Option<Setting<u8>>,
    pub(crate) service: Option<Setting<IpNet>>,
    /// `None` also where there is none.
    pub(crate) gateway: Option<Setting<IpAddr>>,
    pub(crate) dns: Vec<IpAddr>,
}

/// A value, and where it comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

impl<T> Setting<T> {
    /// Whether it is what the cluster would have, if the section that does not give it may have mistakes.
    fn is_certain(&self, is_clean: bool) -> bool {
        is_clean || self.origin.given().is_some()
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// The user wrote it here.
    Given(Location),
    /// Derived from the first node's address, which stands here.
    FirstNode(Location),
    /// The same for everybody.
    Default,
}

impl Origin {
    /// Where the user wrote the value.
    pub(crate) fn given(self) -> Option<Location> {
        match self {
            Self::Given(location) => Some(location),
            Self::FirstNode(_) | Self::Default => None,
        }
    }

    /// For messages about something the user did not write.
    pub(crate) fn note(self) -> &'static str {
        match self {
            Self::Given(_) => "",
            Self::FirstNode(_) => " (derived from the first node's address)",
            Self::Default => " (the default)",
        }
    }
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        cluster: &'a ClusterSection,
        nodes: &'a List<NodeSection>,
        node_files: &'a [NodeFileFacts<'a>],
    ) -> Self {
        let mut facts_by_name: HashMap<&str, &NodeFacts> = HashMap::with_capacity(node_files.len());
        for file in node_files {
            if let Some(name) = &file.facts.name {
                facts_by_name.entry(&name.0).or_insert(&file.facts);
            }
        }
        let facts_of =
            |node: &NodeSection| node.name.as_ref().and_then(|name| facts_by_name.get(name.0.as_str()).copied());
        let first_address = nodes.items.iter().find_map(|node| node.ip.as_ref());
        let networks = Networks::resolve(cluster.networking.as_ref(), first_address);
        Self {
            cluster,
            nodes: nodes.items.iter().map(|listed| DraftNode { listed, facts: facts_of(listed) }).collect(),
            nodes_location: nodes.location,
            nodes_complete: nodes.complete && nodes.items.iter().all(|node| node.clean),
            node_files,
            networks,
        }
    }

    /// Where a network setting comes from; for a default, the section it would belong to.
    pub(crate) fn location_of(&self, origin: Origin) -> Location {
        match origin {
            Origin::Given(location) | Origin::FirstNode(location) => location,
            Origin::Default => {
                self.cluster.networking.as_ref().map_or(self.cluster.location, |section| section.location)
            }
        }
    }

    /// How many copies a pool keeps: as given, or three, or as many as there are nodes to keep them.
    pub(crate) fn pool_size(&self) -> u8 {
        match self.cluster.ceph.as_ref().and_then(|section| section.pool_size.as_ref()) {
            Some(given) => given.0,
            None => match self.with_role(Role::CephOsd).count() {
                1 => 1,
                2 => 2,
                _ => 3,
            },
        }
    }

    /// The nodes with a role.
    pub(crate) fn with_role(&self, role: Role) -> impl Iterator<Item = &DraftNode<'a>> {
        self.nodes.iter().filter(move |node| node.has(role))
    }
}

impl<'a> DraftNode<'a> {
    pub(crate) fn name(&self) -> Option<&'a Spanned<NodeName>> {
        self.listed.name.as_ref()
    }

    /// The name for messages.
    pub(crate) fn shown(&self) -> &'a str {
        self.name().map_or("a node without a name", |name| &name.0)
    }

    /// The host name: from either file, or the node's name.
    pub(crate) fn hostname(&self) -> Option<&'a Spanned<NodeName>> {
        let from_file = self.facts.and_then(|facts| facts.hostname.as_ref());
        self.listed.hostname.as_ref().or(from_file).or_else(|| self.name())
    }

    pub(crate) fn has(&self, role: Role) -> bool {
        self.listed.roles.as_ref().is_some_and(|roles| roles.items.iter().any(|given| given.value == role))
    }

    pub(crate) fn has_ceph_role(&self) -> bool {
        self.listed.roles.as_ref().is_some_and(|roles| roles.items.iter().any(|given| given.is_ceph()))
    }

    /// Where its roles stand; where there are none, the node itself.
    pub(crate) fn roles_location(&self) -> Location {
        self.listed.roles.as_ref().map_or(self.listed.location, |roles| roles.location)
    }

    /// The OSDs that could be read.
    pub(crate) fn osds(&self) -> impl Iterator<Item = &'a OsdSection> + use<'a> {
        self.listed.ceph.iter().filter_map(|section| section.osds.as_ref()).flat_map(|osds| &osds.items)
    }

    pub(crate) fn roles(&self) -> BTreeSet<Role> {
        self.listed.roles.iter().flat_map(|roles| &roles.items).map(|role| role.value).collect()
    }

    pub(crate) fn macs(&self) -> impl Iterator<Item = &'a Spanned<Mac>> + use<'a> {
        self.hardware().filter_map(|hardware| hardware.mac_addresses.as_ref()).flat_map(|macs| &macs.items)
    }

    pub(crate) fn dmi_uuid(&self) -> Option<&'a Spanned<DmiUuid>> {
        self.hardware().find_map(|hardware| hardware.dmi_uuid.as_ref())
    }

    pub(crate) fn dmi_serial(&self) -> Option<&'a Spanned<DmiSerial>> {
        self.hardware().find_map(|hardware| hardware.dmi_serial.as_ref())
    }

    fn hardware(&self) -> impl Iterator<Item = &'a HardwareSection> + use<'a> {
        self.listed.hardware.iter().chain(self.facts.and_then(|facts| facts.hardware.as_ref()))
    }
}

impl Networks {
    fn resolve(section: Option<&NetworkingSection>, first_address: Option<&Spanned<IpAddr>>) -> Self {
        let node = node_network(section, first_address);
        let is_ipv6 = node.map_or(first_address.is_some_and(|ip| ip.is_ipv6()), |node| node.value.addr().is_ipv6());
        let defaults = if is_ipv6 { Defaults::ipv6() } else { Defaults::ipv4() };
        let pod = section.and_then(|section| section.pod_cidr.as_ref());
        let prefix = section.and_then(|section| section.pod_prefix_per_node.as_ref());
        let service = section.and_then(|section| section.service_cidr.as_ref());
        let is_clean = section.is_none_or(|section| section.clean);
        Self {
            node: node.filter(|node| node.is_certain(is_clean)),
            pod: Some(given_or(pod, |network| *network, defaults.pod)).filter(|pod| pod.is_certain(is_clean)),
            pod_prefix_per_node: Some(given_or(prefix, |prefix| prefix.0, defaults.pod_prefix_per_node))
                .filter(|prefix| prefix.is_certain(is_clean)),
            service: Some(given_or(service, |network| *network, defaults.service))
                .filter(|service| service.is_certain(is_clean)),
            gateway: gateway(section, node).filter(|gateway| gateway.is_certain(is_clean)),
            dns: section.and_then(|section| section.dns.as_ref()).map_or_else(
                || defaults.dns.to_vec(),
                |servers| servers.items.iter().map(|server| server.value).collect(),
            ),
        }
    }
}

/// What a cluster gets that says nothing.
struct Defaults {
    pod: IpNet,
    pod_prefix_per_node: u8,
    service: IpNet,
    dns: [IpAddr; 2],
}

impl Defaults {
    fn ipv4() -> Self {
        Self {
            pod: Ipv4Net::new_assert(Ipv4Addr::new(10, 244, 0, 0), 16).into(),
            pod_prefix_per_node: 24,
            service: Ipv4Net::new_assert(Ipv4Addr::new(10, 96, 0, 0), 12).into(),
            dns: [Ipv4Addr::new(8, 8, 8, 8).into(), Ipv4Addr::new(8, 8, 4, 4).into()],
        }
    }

    fn ipv6() -> Self {
        Self {
            pod: Ipv6Net::new_assert(Ipv6Addr::new(0xfd00, 0x10, 0x244, 0, 0, 0, 0, 0), 56).into(),
            pod_prefix_per_node: 64,
            service: Ipv6Net::new_assert(Ipv6Addr::new(0xfd00, 0x10, 0x96, 0, 0, 0, 0, 0), 112).into(),
            dns: [
                Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8888).into(),
                Ipv6Addr::new(0x2001, 0x4860, 0x4860, 0, 0, 0, 0, 0x8844).into(),
            ],
        }
    }
}

fn given_or<T, V>(given: Option<&Spanned<T>>, value: impl Fn(&T) -> V, default: V) -> Setting<V> {
    match given {
        Some(given) => Setting { value: value(given), origin: Origin::Given(given.location) },
        None => Setting { value: default, origin: Origin::Default },
    }
}

fn node_network(
    section: Option<&NetworkingSection>,
    first_address: Option<&Spanned<IpAddr>>,
) -> Option<Setting<IpNet>> {
    if let Some(network) = section.and_then(|section| section.node_cidr.as_ref()) {
        return Some(Setting { value: network.value, origin: Origin::Given(network.location) });
    }
    let address = first_address?;
    let (prefix, origin) = match section.and_then(|section| section.prefix.as_ref()) {
        Some(prefix) => (prefix.0, Origin::Given(prefix.location)),
        None => (if address.is_ipv6() { 64 } else { 24 }, Origin::FirstNode(address.location)),
    };
    let network = IpNet::new(address.value, prefix).ok()?;
    Some(Setting { value: network.trunc(), origin })
}

fn gateway(section: Option<&NetworkingSection>, node: Option<Setting<IpNet>>) -> Option<Setting<IpAddr>> {
    if let Some(gateway) = section.and_then(|section| section.gateway.as_ref()) {
        return match gateway.value {
            Gateway::None => None,
            Gateway::Address(address) => Some(Setting { value: address, origin: Origin::Given(gateway.location) }),
        };
    }
    let node = node?.value;
    let has_hosts = node.max_prefix_len() - node.prefix_len() >= 2;
    has_hosts.then(|| Setting { value: nth_address(node, 1), origin: Origin::Default })
}
