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
}

impl Default for Shape {
    fn default() -> Self {
        Self { masters: 1, workers: 2 }
    }
}

/// The cluster.yaml of a lab. Machines know who they are by MAC address, as on metal.
pub fn cluster_yaml(name: &str, shape: Shape, net: Ipv4Net, dns: &[String]) -> String {
    let [a, b, c, _] = net.network().octets();
    let mut text = format!(
        "cluster:\n  name: {name}\n  networking:\n    node_cidr: {net}\n    gateway: {a}.{b}.{c}.1\n    dns: [{}]\n    pod_cidr: 10.{}.0.0/16\n    service_cidr: 10.87.0.0/16\nnodes:\n",
        dns.join(", "),
        89 + u16::from(c) % 128,
    );
    let masters = (1..=shape.masters).map(|n| ("master", n, 10 + n));
    let workers = (1..=shape.workers).map(|n| ("worker", n, 100 + n));
    for (role, n, last) in masters.chain(workers) {
        let _ = write!(
            text,
            "  - name: {role}-{n:02}\n    ip: {a}.{b}.{c}.{last}\n    roles: [{role}]\n    hardware:\n      mac_addresses: [\"52:54:{a:02x}:{b:02x}:{c:02x}:{last:02x}\"]\n"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_a_valid_cluster() {
        for (masters, workers) in [(1, 0), (1, 2), (3, 2), (5, 90)] {
            let text =
                cluster_yaml("lab", Shape { masters, workers }, "10.88.7.0/24".parse().unwrap(), &["10.0.0.53".into()]);
            let checked = spec::check_text(&text);
            assert!(checked.cluster.is_some(), "{:?}\n{text}", checked.problems);
        }
    }

    #[test]
    fn the_default_lab() {
        let text = cluster_yaml("lab", Shape::default(), "10.88.0.0/24".parse().unwrap(), &["10.0.0.53".into()]);
        insta::assert_snapshot!(text);
    }
}
