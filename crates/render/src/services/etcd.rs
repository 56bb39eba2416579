//! etcd: one member on every master, TLS with client certificates towards clients and towards the other members.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::Path,
};

use spec::{Node, ValidatedCluster, ports};

use crate::{
    address::{https, with_port},
    paths::{ETCD_DATA, pki},
    process::{Health, Process},
    service::Service,
    unit::Command,
};

/// Its certificates and keys, and no others.
const ETCD_PKI: &str = "/etc/kubernetes/pki/etcd";

/// The files by which it is decided whether a member may start.
#[derive(Debug, Clone, Copy)]
pub struct EtcdFiles<'a> {
    /// Whom it starts with, an environment file: it is decided once, at run time, and must not make the unit another one.
    pub initial: &'a Path,
    /// What etcd makes at its first start.
    pub data: &'a Path,
    /// Which member it is, noted when it has started.
    pub member_id: &'a Path,
}

/// What it runs, reads and answers. With whom it starts is not a part of it: that is decided once, at run time.
pub fn etcd_process(cluster: &ValidatedCluster, node: &Node) -> Process {
    process(cluster, node, format!("{}-etcd", cluster.name()))
}

fn process(cluster: &ValidatedCluster, node: &Node, token: String) -> Process {
    let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
    let clients = [node.ip, loopback].map(|ip| https(ip, ports::ETCD_CLIENT)).join(",");
    let command = Command::new("etcd")
        .flag("name", &node.name)
        .flag("data-dir", ETCD_DATA)
        .flag("listen-client-urls", clients)
        .flag("advertise-client-urls", https(node.ip, ports::ETCD_CLIENT))
        .flag("listen-peer-urls", https(node.ip, ports::ETCD_PEER))
        .flag("initial-advertise-peer-urls", https(node.ip, ports::ETCD_PEER))
        .flag("listen-metrics-urls", format!("http://{}", with_port(loopback, ports::ETCD_METRICS)))
        .flag("initial-cluster-token", token)
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
    // All masters are announced while the bootstrap node is the only voter. Every member must know the limit: one with a lower
    // limit does not start.
    let command = match cluster.bootstrap_node() {
        Some(_) => command.flag("max-learners", cluster.masters().count()),
        None => command,
    };
    Process {
        name: "etcd",
        description: "etcd, the cluster's database",
        documentation: "https://etcd.io/docs/",
        command,
        files: Vec::new(),
        reads: vec![ETCD_PKI],
        writes: vec![ETCD_DATA],
        needs: Vec::new(),
        health: Health { scheme: "http", port: ports::ETCD_METRICS, live: "/livez", ready: "/readyz" },
        environment: etcdctl(),
    }
}

/// What `etcdctl` needs, so that it can be typed without a flag inside of the container.
fn etcdctl() -> Vec<(&'static str, String)> {
    vec![
        ("ETCDCTL_ENDPOINTS", https(Ipv4Addr::LOCALHOST.into(), ports::ETCD_CLIENT)),
        ("ETCDCTL_CACERT", pki("etcd/ca.crt")),
        ("ETCDCTL_CERT", pki("etcd/peer.crt")),
        ("ETCDCTL_KEY", pki("etcd/peer.key")),
    ]
}

/// The first member of a new cluster, alone: what a temporary bootstrap node runs. Where it has data, etcd does not look at
/// whom it started with. It does not start without the decision, which lies beside its data: a disk that is not mounted is no
/// new cluster. etcd makes its ids of the token and the address, so the machine is in the token: another machine of this name and
/// address, or the same one with an empty disk, starts a cluster that the masters' etcd does not take for theirs.
pub fn etcd_alone(cluster: &ValidatedCluster, node: &Node, machine: &str, initial: &Path) -> Process {
    let machine: String = machine.chars().take(16).collect();
    let mut process = process(cluster, node, format!("{}-etcd-{machine}", cluster.name()));
    process.needs.push(initial.to_path_buf());
    let own = format!("{}={}", node.name, https(node.ip, ports::ETCD_PEER));
    process.environment.extend([("ETCD_INITIAL_CLUSTER", own), ("ETCD_INITIAL_CLUSTER_STATE", "new".to_owned())]);
    process
}

/// The member on this master. It does not start before it is decided with whom, nor when it was a member and its data are
/// gone: etcd would come back as the same member and have forgotten what it has voted for.
pub fn etcd(cluster: &ValidatedCluster, node: &Node, files: EtcdFiles<'_>) -> Service {
    let EtcdFiles { initial, data, member_id } = files;
    let (initial, process) = (initial.display(), etcd_process(cluster, node));
    let unit = process
        .unit("etcd.service")
        // Wanted by the API server, too, which may start before it is decided.
        .unit("ConditionPathExists", &initial)
        // One of these two is enough.
        .unit("ConditionPathExists", format!("|{}", data.display()))
        .unit("ConditionPathExists", format!("|!{}", member_id.display()))
        .follows_network()
        // Not `notify`: it reports ready when there is a majority, and a machine is not to be stuck in the middle of its
        // boot until others have come up. A client that needs to know asks etcd itself.
        .service("Type", "exec")
        .service("EnvironmentFile", initial);
    process.kept_running(unit).into_service(process.files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{HOME, OTHER, cluster, node, whole};

    #[test]
    fn a_member() {
        for (text, name) in [(HOME, "master-01"), (OTHER, "m3")] {
            let cluster = cluster(text);
            let files = EtcdFiles {
                initial: "/var/lib/etcd/initial.env".as_ref(),
                data: "/var/lib/etcd/member".as_ref(),
                member_id: "/var/lib/cluster-state/etcd-member-id".as_ref(),
            };
            let unit = etcd(&cluster, node(&cluster, name), files);
            insta::assert_snapshot!(format!("a_member_{name}"), whole(&unit));
        }
    }
}
