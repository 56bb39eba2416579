//! etcd: one member on every master, TLS with client certificates towards clients and towards the other members.

use std::net::{IpAddr, Ipv4Addr};

use spec::{Node, ValidatedCluster, ports};

use crate::{
    address::{https, with_port},
    paths::pki,
    service::Service,
    unit::{Command, Unit},
};

/// What a member starts with. etcd reads it only while its data directory is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initial {
    /// Name and address of all members, this one included.
    pub members: Vec<(String, IpAddr)>,
    /// Whether they form a cluster or this one joins theirs.
    pub state: ClusterState,
}

/// Whether an etcd cluster is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterState {
    /// The members form one together.
    New,
    /// This member has been added to one that runs.
    Existing,
}

/// The member on this master.
pub fn etcd(cluster: &ValidatedCluster, node: &Node, initial: &Initial) -> Service {
    let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
    let members: Vec<String> =
        initial.members.iter().map(|(name, ip)| format!("{name}={}", https(*ip, ports::ETCD_PEER))).collect();
    let state = match initial.state {
        ClusterState::New => "new",
        ClusterState::Existing => "existing",
    };
    let clients = [node.ip, loopback].map(|ip| https(ip, ports::ETCD_CLIENT)).join(",");
    let command = Command::new("etcd")
        .flag("name", &node.name)
        .flag("data-dir", "/var/lib/etcd")
        .flag("listen-client-urls", clients)
        .flag("advertise-client-urls", https(node.ip, ports::ETCD_CLIENT))
        .flag("listen-peer-urls", https(node.ip, ports::ETCD_PEER))
        .flag("initial-advertise-peer-urls", https(node.ip, ports::ETCD_PEER))
        .flag("listen-metrics-urls", format!("http://{}", with_port(loopback, ports::ETCD_METRICS)))
        .flag("initial-cluster", members.join(","))
        .flag("initial-cluster-state", state)
        .flag("initial-cluster-token", format!("{}-etcd", cluster.name()))
        .flag("client-cert-auth", true)
        .flag("peer-client-cert-auth", true)
        .flags([
            ("cert-file", pki("etcd/server.crt")),
            ("key-file", pki("etcd/server.key")),
            ("trusted-ca-file", pki("etcd/ca.crt")),
            ("peer-cert-file", pki("etcd/peer.crt")),
            ("peer-key-file", pki("etcd/peer.key")),
            ("peer-trusted-ca-file", pki("etcd/ca.crt")),
        ])
        .flag("tls-min-version", "TLS1.2")
        // Without it a member whose file was damaged would spread what it reads there.
        .flag("feature-gates", "InitialCorruptCheck=true")
        .flag("watch-progress-notify-interval", "5s");
    Unit::new("etcd.service", "etcd, the cluster's database")
        .unit("Documentation", "https://etcd.io/docs/")
        .follows_network()
        // Not `notify`: it reports ready when there is a majority, and a machine is not to be stuck in the middle of its
        // boot until others have come up. Whoever needs to know asks etcd itself.
        .service("Type", "exec")
        .exec(command)
        .restarted("2s")
        .service("OOMScoreAdjust", -997)
        .confined()
        .into_service(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, OTHER, cluster, node, whole};

    #[test]
    fn a_first_member_alone() {
        let cluster = cluster(HOME);
        let node = node(&cluster, "master-01");
        let initial = Initial { members: vec![(node.name.clone(), node.ip)], state: ClusterState::New };
        insta::assert_snapshot!(whole(&etcd(&cluster, node, &initial)));
    }

    #[test]
    fn a_third_member_that_joins() {
        let cluster = cluster(OTHER);
        let members = cluster.masters().map(|node| (node.name.clone(), node.ip)).collect();
        let initial = Initial { members, state: ClusterState::Existing };
        insta::assert_snapshot!(whole(&etcd(&cluster, node(&cluster, "m3"), &initial)));
    }
}
