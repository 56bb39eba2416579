//! A cluster and a machine for the tests of these steps.

use std::{fs, path::Path, sync::Arc};

use ::ceph::{Handed, Identity};
use host::Host;
use jiff::Timestamp;
use spec::ValidatedCluster;
use tempfile::TempDir;

use super::source::Source;
use crate::{access::Access, membership::Membership};
use nodekit::Layout;

/// Two monitors, a manager alone and an OSD alone.
pub(super) fn cluster() -> ValidatedCluster {
    let text = "cluster: {name: home, networking: {gateway: none}}\nnodes:\n\
        - {name: m1, ip: 192.168.1.11, roles: [master, ceph-mon, ceph-mgr, ceph-osd], ceph: {osds: [{device: /dev/sdb}]}}\n\
        - {name: m2, ip: 192.168.1.12, roles: [worker, ceph-mon]}\n\
        - {name: m3, ip: 192.168.1.13, roles: [worker, ceph-mgr]}\n\
        - {name: m4, ip: 192.168.1.14, roles: [worker, ceph-osd], ceph: {osds: [{file: /srv/one, size: 10G}]}}\n";
    let checked = spec::check_text(text);
    checked.cluster.unwrap_or_else(|| panic!("{:?}", checked.problems))
}

/// What a node is given.
pub(super) fn handed(cluster: &ValidatedCluster, node: &str) -> Handed {
    let identity = Identity::make(cluster, Timestamp::UNIX_EPOCH).unwrap();
    identity.for_node(cluster.node(node).unwrap()).unwrap()
}

/// Where a node would ask.
pub(super) fn source(cluster: &ValidatedCluster, node: &str) -> Arc<Source> {
    let node = cluster.node(node).unwrap();
    let membership = Arc::new(Membership::new(cluster, node, &Layout::default(), None));
    Arc::new(Source::new(cluster, node, &Arc::new(Access::new("/nowhere")), &membership))
}

/// A machine with these files.
pub(super) fn machine(files: &[(&str, &str)]) -> (TempDir, Host) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(root.path(), path, text);
    }
    let host = Host::rooted(root.path());
    (root, host)
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path.trim_start_matches('/'));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Every file that is there.
pub(super) fn left(root: &Path) -> Vec<String> {
    let mut left = Vec::new();
    let mut dirs = vec![root.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                dirs.push(path);
            } else {
                left.push(format!("/{}", path.strip_prefix(root).unwrap().display()));
            }
        }
    }
    left.sort();
    left
}
