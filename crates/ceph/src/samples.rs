//! Clusters for the tests.

use spec::ValidatedCluster;

/// A monitor with a manager, a manager alone, an OSD, and a node that has nothing to do with Ceph.
pub(crate) const THREE: &str = r#"
cluster:
  name: home
nodes:
  - { name: m1, ip: 192.168.1.11, roles: [master, ceph-mon, ceph-mgr], hardware: { mac_addresses: ["52:54:00:00:00:11"] } }
  - { name: m2, ip: 192.168.1.12, roles: [worker, ceph-mgr], hardware: { mac_addresses: ["52:54:00:00:00:12"] } }
  - name: w1
    ip: 192.168.1.21
    roles: [worker, ceph-osd]
    hardware: { mac_addresses: ["52:54:00:00:00:21"] }
    ceph: { osds: [{ device: /dev/sdb }] }
  - { name: w2, ip: 192.168.1.22, roles: [worker], hardware: { mac_addresses: ["52:54:00:00:00:22"] } }
"#;

/// IPv6, two networks, three monitors with OSDs.
pub(crate) const SIX: &str = r#"
cluster:
  name: six
  networking: { node_cidr: "fd00:1::/64", gateway: none, pod_cidr: "fd00:2::/56", service_cidr: "fd00:3::/112" }
  ceph: { public_network: "fd00:1::/64", cluster_network: "fd00:4::/64" }
nodes:
  - { name: a, ip: "fd00:1::11", roles: [master, ceph-mon, ceph-mgr, ceph-osd], hardware: { mac_addresses: ["52:54:00:00:00:11"] }, ceph: { osds: [{ device: /dev/sdb }] } }
  - { name: b, ip: "fd00:1::12", roles: [master, ceph-mon, ceph-mgr, ceph-osd], hardware: { mac_addresses: ["52:54:00:00:00:12"] }, ceph: { osds: [{ device: /dev/sdb }] } }
  - { name: c, ip: "fd00:1::13", roles: [master, ceph-mon, ceph-mgr, ceph-osd], hardware: { mac_addresses: ["52:54:00:00:00:13"] }, ceph: { osds: [{ device: /dev/sdb }] } }
"#;

pub(crate) fn cluster(text: &str) -> ValidatedCluster {
    let checked = spec::check_text(text);
    assert_eq!(checked.errors(), 0, "{:?}", checked.problems);
    checked.cluster.unwrap()
}
