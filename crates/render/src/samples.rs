//! Clusters and machines for the tests.

use spec::{Node, ValidatedCluster};

use crate::{Cgroup, Machine, Service};

/// One master, one worker, everything by default.
pub(crate) const HOME: &str = r#"
cluster:
  name: home
nodes:
  - { name: master-01, ip: 192.168.1.10, roles: [master], hardware: { mac_addresses: ["52:54:00:00:00:10"] } }
  - { name: worker-01, ip: 192.168.1.21, roles: [worker], hardware: { mac_addresses: ["52:54:00:00:00:21"] } }
"#;

/// IPv6, three masters that are workers as well, a load balancer, other ports and names, no gateway, open to machines
/// that are not listed.
pub(crate) const OTHER: &str = r#"
cluster:
  name: other
  networking:
    node_cidr: fd00:1::/64
    gateway: none
    dns: ["fd00:1::53"]
    interface: enp3s0
    pod_cidr: fd00:2::/56
    service_cidr: fd00:3::/112
    domain: other.internal
  api: { port: 8443, endpoint: "api.other.example:443" }
  bootstrap: { unlisted_nodes: allow }
nodes:
  - { name: m1, hostname: m1.other.example, ip: "fd00:1::11", roles: [master, worker], hardware: { mac_addresses: ["52:54:00:00:00:11"] } }
  - { name: m2, hostname: m2.other.example, ip: "fd00:1::12", roles: [master, worker], hardware: { mac_addresses: ["52:54:00:00:00:12"] } }
  - { name: m3, hostname: m3.other.example, ip: "fd00:1::13", roles: [master, worker], hardware: { mac_addresses: ["52:54:00:00:00:13"] } }
"#;

pub(crate) fn cluster(text: &str) -> ValidatedCluster {
    let checked = spec::check_text(text);
    assert_eq!(checked.errors(), 0, "{:?}", checked.problems);
    checked.cluster.unwrap()
}

pub(crate) fn node<'a>(cluster: &'a ValidatedCluster, name: &str) -> &'a Node {
    cluster.node(name).unwrap()
}

/// A server as it comes from the shop.
pub(crate) fn metal() -> Machine {
    Machine {
        cgroup: Cgroup::V2,
        may_raise_limits: true,
        may_size_conntrack: true,
        has_own_disk: true,
        resolv_conf: "/run/systemd/resolve/resolv.conf".into(),
    }
}

/// A container on a computer with old control groups.
pub(crate) fn lab() -> Machine {
    Machine {
        cgroup: Cgroup::V1,
        may_raise_limits: false,
        may_size_conntrack: false,
        has_own_disk: false,
        resolv_conf: "/etc/resolv.conf".into(),
    }
}

/// A service with all its files, as one text.
pub(crate) fn whole(service: &Service) -> String {
    let files = std::iter::once(&service.unit_file())
        .chain(&service.files)
        .map(|file| format!("=== {} {:04o}\n{}", file.path.display(), file.mode, file.text))
        .collect::<Vec<_>>();
    files.join("\n")
}

/// Kubernetes objects as one text.
pub(crate) fn manifest(objects: &[serde_json::Value]) -> String {
    objects.iter().map(crate::yaml::document).collect::<Vec<_>>().join("---\n")
}
