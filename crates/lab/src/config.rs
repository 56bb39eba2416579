//! The lab's cluster.yaml: written for the wished shape, or brought by the user.

use std::fmt::Write;

use ipnet::Ipv4Net;

/// How many machines of which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// master-01 …
    pub masters: u8,
    /// worker-01 …
    pub workers: u8,
    /// Whether every master is a monitor, a manager and an OSD of Ceph, too.
    pub ceph: bool,
    /// Whether there is a temporary bootstrap node, too.
    pub bootstrap: bool,
}

impl Shape {
    /// The default.
    pub fn usual(ceph: bool) -> Self {
        // Three copies on three machines is the least that survives the loss of one without a warning.
        let (masters, workers) = if ceph { (3, 0) } else { (1, 2) };
        Self { masters, workers, ceph, bootstrap: false }
    }

    /// The default with a bootstrap node.
    pub fn pivot() -> Self {
        Self { masters: 3, workers: 1, ceph: false, bootstrap: true }
    }
}

/// The cluster.yaml of a lab. Machines know who they are by MAC address, as on metal.
pub fn cluster_yaml(name: &str, shape: Shape, net: Ipv4Net, dns: &[String]) -> String {
    let [a, b, c, _] = net.network().octets();
    let mut text = format!(
        "cluster:\n  name: {name}\n  networking:\n    node_cidr: {net}\n    gateway: {a}.{b}.{c}.1\n    dns: [{}]\n    pod_cidr: 10.{}.0.0/16\n    service_cidr: 10.87.0.0/16\n{}nodes:\n",
        dns.join(", "),
        89 + u16::from(c) % 128,
        if shape.ceph { CEPH } else { "" },
    );
    let master = if shape.ceph { "master, ceph-mon, ceph-mgr, ceph-osd" } else { "master" };
    let masters = (1..=shape.masters).map(|n| ("master", n, 10 + n, master, if shape.ceph { OSD } else { "" }));
    let workers = (1..=shape.workers).map(|n| ("worker", n, 100 + n, "worker", ""));
    let numbered = |(kind, n, last, roles, osds)| (format!("{kind}-{n:02}"), last, roles, osds);
    let bootstrap = shape.bootstrap.then(|| ("bootstrap".to_owned(), 9, "bootstrap", ""));
    for (name, last, roles, osds) in bootstrap.into_iter().chain(masters.chain(workers).map(numbered)) {
        let _ = write!(
            text,
            "  - name: {name}\n    ip: {a}.{b}.{c}.{last}\n    roles: [{roles}]\n    hardware:\n      mac_addresses: [\"52:54:{a:02x}:{b:02x}:{c:02x}:{last:02x}\"]\n{osds}"
        );
    }
    text
}

/// All machines share the memory of one computer.
const CEPH: &str = "  ceph:\n    osd_memory_target: 896M\n";
/// Takes up only what is written to it.
const OSD: &str = "    ceph:\n      osds:\n        - file: /var/lib/ceph-osd/one\n          size: 10G\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_a_valid_cluster() {
        let shape = |masters, workers, ceph| Shape { masters, workers, ceph, bootstrap: false };
        for shape in [
            shape(1, 0, false),
            shape(1, 2, false),
            shape(3, 2, false),
            shape(5, 90, false),
            shape(1, 1, true),
            shape(3, 0, true),
            Shape::pivot(),
            Shape { masters: 1, workers: 0, ..Shape::pivot() },
        ] {
            let text = cluster_yaml("lab", shape, "10.88.7.0/24".parse().unwrap(), &["10.0.0.53".into()]);
            let checked = spec::check_text(&text);
            assert!(checked.cluster.is_some(), "{:?}\n{text}", checked.problems);
        }
    }

    #[test]
    fn the_default_lab() {
        let text = cluster_yaml("lab", Shape::usual(false), "10.88.0.0/24".parse().unwrap(), &["10.0.0.53".into()]);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_lab_with_a_bootstrap_node() {
        let text = cluster_yaml("lab", Shape::pivot(), "10.88.0.0/24".parse().unwrap(), &["10.0.0.53".into()]);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_lab_with_ceph() {
        let text = cluster_yaml("lab", Shape::usual(true), "10.88.0.0/24".parse().unwrap(), &["10.0.0.53".into()]);
        insta::assert_snapshot!(text);
    }
}
