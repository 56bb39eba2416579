//! What the PKI needs to know of a cluster and of one of its masters.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use spec::{BootstrapRole, Endpoint, Node, San, ValidatedCluster, ports};

use crate::table::{Names, Server};

/// Who makes what all masters share: the CAs and the service account key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// This node, where it is missing: it starts the cluster.
    Make,
    /// Another master has it, so a missing file is an error: made here, it would start a second cluster.
    Bring,
}

/// What certificates and kubeconfigs of one master are made from.
#[derive(Debug, Clone)]
pub struct Input {
    /// The cluster's name.
    pub cluster: String,
    /// The cluster's DNS domain.
    pub domain: String,
    /// Address of the `kubernetes` service.
    pub service_ip: IpAddr,
    /// Port of the API servers.
    pub port: u16,
    /// What stands in front of the masters, if anything does.
    pub endpoint: Option<Endpoint>,
    /// Further names of the API server.
    pub extra_sans: Vec<San>,
    /// The node's name.
    pub node: String,
    /// The machine's host name.
    pub hostname: String,
    /// The node's address.
    pub ip: IpAddr,
    /// Who makes what all masters share.
    pub shared: Shared,
}

impl Input {
    /// For a node in its bootstrap: only the first master may make CAs.
    pub fn for_node(cluster: &ValidatedCluster, node: &Node) -> Self {
        let shared = match cluster.bootstrap_role(node) {
            BootstrapRole::Bootstrap => Shared::Make,
            // With a bootstrap node the CAs come from there: others would be those of a second cluster.
            BootstrapRole::MasterFirst if cluster.bootstrap_node().is_none() => Shared::Make,
            _ => Shared::Bring,
        };
        Self::new(cluster, node, shared)
    }

    /// For one master of a cluster.
    pub fn new(cluster: &ValidatedCluster, node: &Node, shared: Shared) -> Self {
        Self {
            cluster: cluster.name().to_owned(),
            domain: cluster.networking().domain.clone(),
            service_ip: cluster.networking().api_service_ip(),
            port: cluster.api().port,
            endpoint: cluster.api().endpoint.clone(),
            extra_sans: cluster.api().extra_sans.clone(),
            node: node.name.clone(),
            hostname: node.hostname.clone(),
            ip: node.ip,
            shared,
        }
    }

    /// The names and addresses that a certificate of this kind carries.
    pub fn names(&self, names: Names) -> BTreeSet<San> {
        let mut all = match names {
            Names::None => return BTreeSet::new(),
            Names::EtcdMember => BTreeSet::new(),
            Names::ApiServer => {
                let service = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"].map(str::to_owned);
                let full = format!("kubernetes.default.svc.{}", self.domain);
                let mut api: BTreeSet<San> = service.into_iter().chain([full]).map(San::Dns).collect();
                api.insert(San::Ip(self.service_ip));
                api.extend(self.endpoint.iter().map(|endpoint| endpoint.host.clone()));
                api.extend(self.extra_sans.iter().cloned());
                api
            }
        };
        all.extend([&self.node, &self.hostname].map(|name| San::Dns(name.clone())));
        all.insert(San::Dns("localhost".to_owned()));
        // Loopback, because nodes reach the API through the load balancer in their own agent.
        all.extend([self.ip, Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()].map(San::Ip));
        all
    }

    /// The URL in a kubeconfig.
    pub fn server_url(&self, server: Server) -> String {
        let own_node = (San::Ip(self.ip), self.port);
        let (host, port) = match (server, &self.endpoint) {
            (Server::Endpoint, Some(endpoint)) => (endpoint.host.clone(), endpoint.port),
            (Server::Endpoint, None) | (Server::OwnNode, _) => own_node,
            (Server::Balancer, _) => (San::Ip(Ipv4Addr::LOCALHOST.into()), ports::API_BALANCER),
        };
        match host {
            San::Dns(name) => format!("https://{name}:{port}"),
            San::Ip(IpAddr::V4(ip)) => format!("https://{ip}:{port}"),
            San::Ip(IpAddr::V6(ip)) => format!("https://[{ip}]:{port}"),
        }
    }
}
