//! The files as users write them: every key, its meaning and its default.
//!
//! These shapes are the source of three things: the reader ([`Section`]), the JSON Schema (the doc comments are what an
//! editor shows), and the page docs/reference/cluster-yaml.md, which a test compares with the schema. A key that is
//! missing or wrong is `None`: the reader has reported it, and the checks go on with the rest.
//!
//! To add a key: a field with its doc comment, a line in the section's `read`, a row in the page.

mod ceph;

use std::net::IpAddr;

use ipnet::IpNet;
use schemars::JsonSchema;

use crate::{
    cluster::{Endpoint, InterfaceChoice, Mac, Role, San, SecretTtl, Token, UnlistedNodes, Version},
    location::{List, Location, Spanned},
    read::{Fields, Section},
    values::{
        AddOnKind, ClusterName, DmiSerial, DmiUuid, Domain, Gateway, KmsEndpoint, KmsName, KmsTimeout, ManifestPath,
        NodeName, Port, PrefixLength,
    },
};

pub(crate) use ceph::{CephSection, NodeCephSection, OsdSection};

/// A cluster: its settings and its nodes.
#[derive(Debug, JsonSchema)]
#[schemars(title = "Blackstart cluster.yaml", deny_unknown_fields)]
pub(crate) struct ClusterFile {
    /// Settings of the whole cluster.
    #[schemars(required)]
    pub(crate) cluster: Option<ClusterSection>,
    /// All machines of the cluster. At least one is a master.
    #[schemars(required, extend("minItems" = 1))]
    pub(crate) nodes: Option<List<NodeSection>>,
}

/// Settings of the whole cluster.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ClusterSection {
    /// The cluster's name: a DNS label, in certificates and kubeconfigs.
    #[schemars(required)]
    pub(crate) name: Option<Spanned<ClusterName>>,
    /// The Kubernetes version of all components; supported are 1.34 to 1.36.
    #[schemars(extend("default" = "1.36.3"))]
    pub(crate) kubernetes_version: Option<Spanned<Version>>,
    /// Networks, DNS and the network add-on.
    pub(crate) networking: Option<NetworkingSection>,
    /// How the API server is reached.
    pub(crate) api: Option<ApiSection>,
    /// How nodes get in.
    pub(crate) bootstrap: Option<BootstrapSection>,
    /// How Secrets are encrypted in etcd.
    pub(crate) encryption: Option<EncryptionSection>,
    /// Ceph's networks and defaults; used when nodes have Ceph roles.
    pub(crate) ceph: Option<CephSection>,
    #[schemars(skip)]
    pub(crate) location: Location,
}

/// Networks, DNS and the network add-on.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct NetworkingSection {
    /// Addresses of pods. In an IPv6 cluster the default is `fd00:10:244::/56`.
    #[schemars(extend("default" = "10.244.0.0/16"))]
    pub(crate) pod_cidr: Option<Spanned<IpNet>>,
    /// Prefix length of the part of `pod_cidr` that each node gets. In an IPv6 cluster the default is 64.
    #[schemars(extend("default" = 24))]
    pub(crate) pod_prefix_per_node: Option<Spanned<PrefixLength>>,
    /// Addresses of services: /12 to /28, or /108 to /124. In an IPv6 cluster the default is `fd00:10:96::/112`.
    #[schemars(extend("default" = "10.96.0.0/12"))]
    pub(crate) service_cidr: Option<Spanned<IpNet>>,
    /// The network the nodes are in; its prefix is that of every node's address. The default is the /24 (IPv6: /64)
    /// around the first node's address.
    pub(crate) node_cidr: Option<Spanned<IpNet>>,
    /// Short form of `node_cidr`: the network of this prefix length around the first node's address.
    pub(crate) prefix: Option<Spanned<PrefixLength>>,
    /// The nodes' default gateway, or `none` for an isolated network. The default is the first address of the node
    /// network.
    pub(crate) gateway: Option<Spanned<Gateway>>,
    /// Name servers of the nodes. In an IPv6 cluster the default is the same service under its IPv6 addresses.
    #[schemars(extend("default" = ["8.8.8.8", "8.8.4.4"]))]
    pub(crate) dns: Option<List<Spanned<IpAddr>>>,
    /// The cluster's DNS domain.
    #[schemars(extend("default" = "cluster.local"))]
    pub(crate) domain: Option<Spanned<Domain>>,
    /// The interface that carries the node's address: `by-mac` for the one whose MAC is listed for the node, or a name.
    #[schemars(extend("default" = "by-mac"))]
    pub(crate) interface: Option<Spanned<InterfaceChoice>>,
    /// What connects the pods: `basic` (our own, needs no image), `manifest` (the one in `manifest`), or `none`.
    #[schemars(extend("default" = "basic"))]
    pub(crate) add_on: Option<Spanned<AddOnKind>>,
    /// With `add_on: manifest`: a file or directory of manifests, relative to cluster.yaml or absolute.
    pub(crate) manifest: Option<Spanned<ManifestPath>>,
    #[schemars(skip)]
    pub(crate) location: Location,
    /// Nothing in it was wrong: what is absent has its default.
    #[schemars(skip)]
    pub(crate) clean: bool,
}

/// How the API server is reached.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ApiSection {
    /// Port of every API server.
    #[schemars(extend("default" = 6443))]
    pub(crate) port: Option<Spanned<Port>>,
    /// Host and port of a load balancer or virtual address in front of the masters, if there is one.
    pub(crate) endpoint: Option<Spanned<Endpoint>>,
    /// Further names and addresses in the API server's certificate.
    #[schemars(extend("default" = []))]
    pub(crate) extra_sans: Option<List<Spanned<San>>>,
}

/// How nodes get in.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct BootstrapSection {
    /// A bootstrap token, `id.secret`. Less secure than the join service, which is used without it: anyone who can
    /// read this file can join as any worker.
    pub(crate) token: Option<Spanned<Token>>,
    /// Whether a machine that is not in `nodes` may join as a worker with a token (`kubeadm join`): `deny` or `allow`.
    #[schemars(extend("default" = "deny"))]
    pub(crate) unlisted_nodes: Option<Spanned<UnlistedNodes>>,
    /// How long the secret of a sealed node is good for joining, such as `30d` or `12h`, or `never`.
    #[schemars(extend("default" = "30d"))]
    pub(crate) secret_ttl: Option<Spanned<SecretTtl>>,
}

/// How Secrets are encrypted in etcd.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct EncryptionSection {
    /// A KMS v2 plugin that encrypts Secrets. Without it, masters encrypt with a key of their own. A cluster that runs
    /// changes over with `blackstart pki rotate encryption`.
    pub(crate) kms: Option<KmsSection>,
}

/// A KMS v2 plugin, which runs on every master.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct KmsSection {
    /// The provider's name, a DNS label. It stands in etcd before every Secret; another KMS needs another name.
    #[schemars(required)]
    pub(crate) name: Option<Spanned<KmsName>>,
    /// The plugin's socket on every master.
    #[schemars(required)]
    pub(crate) endpoint: Option<Spanned<KmsEndpoint>>,
    /// The deadline of one call to the plugin, `1s` to `30s`.
    #[schemars(extend("default" = "3s"))]
    pub(crate) timeout: Option<Spanned<KmsTimeout>>,
}

/// One machine.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct NodeSection {
    /// The node's name in Kubernetes: a DNS name of at most 63 characters.
    #[schemars(required)]
    pub(crate) name: Option<Spanned<NodeName>>,
    /// The machine's host name. The default is the node's name.
    pub(crate) hostname: Option<Spanned<NodeName>>,
    /// The node's address inside the node network, without a prefix.
    #[schemars(required)]
    pub(crate) ip: Option<Spanned<IpAddr>>,
    /// What the node does. `control-plane` means the same as `master`.
    #[schemars(required, extend("minItems" = 1))]
    pub(crate) roles: Option<List<Spanned<Role>>>,
    /// What identifies the machine; here, or in nodes/<name>.yaml, or both.
    pub(crate) hardware: Option<HardwareSection>,
    /// What the node keeps for Ceph; with the role `ceph-osd`.
    pub(crate) ceph: Option<NodeCephSection>,
    #[schemars(skip)]
    pub(crate) location: Location,
    /// Nothing in it was wrong: what is absent has its default.
    #[schemars(skip)]
    pub(crate) clean: bool,
}

/// What identifies a machine.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct HardwareSection {
    /// MAC addresses of any of the machine's interfaces, in any common spelling.
    #[schemars(extend("default" = []))]
    pub(crate) mac_addresses: Option<List<Spanned<Mac>>>,
    /// The machine's `/sys/class/dmi/id/product_uuid`.
    pub(crate) dmi_uuid: Option<Spanned<DmiUuid>>,
    /// The machine's `/sys/class/dmi/id/product_serial`.
    pub(crate) dmi_serial: Option<Spanned<DmiSerial>>,
}

/// Facts about one node, beside cluster.yaml.
#[derive(Debug, JsonSchema)]
#[schemars(title = "Blackstart nodes/<name>.yaml", deny_unknown_fields)]
pub(crate) struct NodeFile {
    /// The node. What cluster.yaml says too must be the same here.
    #[schemars(required)]
    pub(crate) node: Option<NodeFacts>,
}

/// What a node file may say.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct NodeFacts {
    /// The node's name, as in cluster.yaml and in the file's own name.
    #[schemars(required)]
    pub(crate) name: Option<Spanned<NodeName>>,
    /// The machine's host name.
    pub(crate) hostname: Option<Spanned<NodeName>>,
    /// The node's address.
    pub(crate) ip: Option<Spanned<IpAddr>>,
    /// What the node does.
    pub(crate) roles: Option<List<Spanned<Role>>>,
    /// What identifies the machine.
    pub(crate) hardware: Option<HardwareSection>,
}

impl Section for ClusterFile {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { cluster: fields.required("cluster"), nodes: fields.required("nodes") }
    }
}

impl Section for ClusterSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            name: fields.required("name"),
            kubernetes_version: fields.optional("kubernetes_version"),
            networking: fields.optional("networking"),
            api: fields.optional("api"),
            bootstrap: fields.optional("bootstrap"),
            encryption: fields.optional("encryption"),
            ceph: fields.optional("ceph"),
            location: fields.location(),
        }
    }
}

impl Section for NetworkingSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            pod_cidr: fields.optional("pod_cidr"),
            pod_prefix_per_node: fields.optional("pod_prefix_per_node"),
            service_cidr: fields.optional("service_cidr"),
            node_cidr: fields.optional("node_cidr"),
            prefix: fields.optional("prefix"),
            gateway: fields.optional("gateway"),
            dns: fields.optional("dns"),
            domain: fields.optional("domain"),
            interface: fields.optional("interface"),
            add_on: fields.optional("add_on"),
            manifest: fields.optional("manifest"),
            location: fields.location(),
            clean: fields.clean(),
        }
    }
}

impl Section for ApiSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            port: fields.optional("port"),
            endpoint: fields.optional("endpoint"),
            extra_sans: fields.optional("extra_sans"),
        }
    }
}

impl Section for BootstrapSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            token: fields.optional("token"),
            unlisted_nodes: fields.optional("unlisted_nodes"),
            secret_ttl: fields.optional("secret_ttl"),
        }
    }
}

impl Section for EncryptionSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { kms: fields.optional("kms") }
    }
}

impl Section for KmsSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            name: fields.required("name"),
            endpoint: fields.required("endpoint"),
            timeout: fields.optional("timeout"),
        }
    }
}

impl Section for NodeSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            name: fields.required("name"),
            hostname: fields.optional("hostname"),
            ip: fields.required("ip"),
            roles: fields.required("roles"),
            hardware: fields.optional("hardware"),
            ceph: fields.optional("ceph"),
            location: fields.location(),
            clean: fields.clean(),
        }
    }
}

impl Section for HardwareSection {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            mac_addresses: fields.optional("mac_addresses"),
            dmi_uuid: fields.optional("dmi_uuid"),
            dmi_serial: fields.optional("dmi_serial"),
        }
    }
}

impl Section for NodeFile {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { node: fields.required("node") }
    }
}

impl Section for NodeFacts {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            name: fields.required("name"),
            hostname: fields.optional("hostname"),
            ip: fields.optional("ip"),
            roles: fields.optional("roles"),
            hardware: fields.optional("hardware"),
        }
    }
}
