//! ceph.conf, from cluster.yaml.
//!
//! What Ceph would warn about on every new cluster is set here and not muted: each line that is no plain translation of
//! cluster.yaml says why.

use std::net::IpAddr;

use spec::{Ceph, Role, ValidatedCluster};

use crate::{Fsid, monmap};

const HEAD: &str = "\
# Written by blackstart from cluster.yaml; what is changed here by hand is lost at the next `blackstart node up`.
# Settings that are to stay are made with `ceph config set`.
[global]
";

/// Below how many percent of free space a monitor complains, and ends. Ceph's own 30 and 5 are meant for a disk of its own;
/// here it shares one with images and logs, where the kubelet makes room at 15.
const SPACE: (u8, u8) = (10, 5);
/// The same where the disk is that of the computer around the machine: what others have on it is not this machine's business.
const SHARED_SPACE: (u8, u8) = (2, 1);

/// The whole file, the same on every node.
pub fn conf(cluster: &ValidatedCluster, settings: &Ceph, fsid: &Fsid, has_own_disk: bool) -> String {
    let monitors: Vec<_> = cluster.with_role(Role::CephMon).collect();
    let names: Vec<&str> = monitors.iter().map(|node| node.name.as_str()).collect();
    let hosts: Vec<String> = monitors.iter().map(|node| monmap::addresses(node.ip)).collect();
    let space = if has_own_disk { SPACE } else { SHARED_SPACE };
    let mut lines = vec![
        ("fsid", fsid.to_string()),
        ("mon initial members", names.join(",")),
        ("mon host", hosts.join(",")),
        ("public network", settings.public_network.to_string()),
        ("cluster network", settings.cluster_network.to_string()),
        ("auth cluster required", "cephx".to_owned()),
        ("auth service required", "cephx".to_owned()),
        ("auth client required", "cephx".to_owned()),
        // For clients of before 2021, which could be impersonated.
        ("auth allow insecure global id reclaim", "false".to_owned()),
        ("osd pool default size", settings.pool_size.to_string()),
        ("osd pool default min size", settings.pool_min_size.to_string()),
        ("osd memory target", settings.osd_memory_target.to_string()),
        ("mon data avail warn", space.0.to_string()),
        ("mon data avail crit", space.1.to_string()),
    ];
    if settings.pool_size == 1 {
        // One copy is what cluster.yaml asks for, so it is neither refused nor complained about.
        lines.push(("mon allow pool size one", "true".to_owned()));
        lines.push(("mon warn on pool no redundancy", "false".to_owned()));
    }
    if monitors.iter().any(|node| matches!(node.ip, IpAddr::V6(_))) {
        lines.push(("ms bind ipv4", "false".to_owned()));
        lines.push(("ms bind ipv6", "true".to_owned()));
    }
    let lines: String = lines.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
    format!("{HEAD}{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{self, cluster};

    #[test]
    fn what_is_written() {
        let fsid = Fsid::parse("6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10").unwrap();
        let texts = [(samples::THREE, true), (samples::SIX, false)].map(|(text, has_own_disk)| {
            let cluster = cluster(text);
            conf(&cluster, cluster.ceph().unwrap(), &fsid, has_own_disk)
        });
        insta::assert_snapshot!(texts.join("\n"));
    }
}
