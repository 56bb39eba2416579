//! What another Ceph cluster has left on this machine, or still has here. It is refused by name, and never touched.

use std::path::Path;

use ::ceph::{Fsid, codes, paths};
use engine::StepError;
use host::{Disk, HostError};

/// Refuses a machine on which something names another cluster than ours.
pub(super) fn refuse(disk: &dyn Disk, ours: &Fsid) -> Result<(), StepError> {
    let found = found(disk, ours)?;
    if found.is_empty() {
        return Ok(());
    }
    let message = format!("this node belongs to the Ceph cluster {ours}, and {}", found.join("; "));
    Err(StepError::new(codes::OTHER_CLUSTER, message))
}

fn found(disk: &dyn Disk, ours: &Fsid) -> Result<Vec<String>, HostError> {
    let mut found = Vec::new();
    let conf = disk.read_optional(Path::new(paths::CONF))?.unwrap_or_default();
    if let Some(other) = paths::fsid_of_conf(&String::from_utf8_lossy(&conf)).filter(|other| other != ours) {
        found.push(format!("{} names the cluster {other}", paths::CONF));
    }
    for dir in [paths::MON, paths::MGR, paths::OSD] {
        for (name, fsid) in paths::daemons(disk, dir)? {
            let path = format!("{dir}/{}{name}", paths::PREFIX);
            match fsid {
                Some(fsid) if fsid == *ours => {}
                Some(other) => found.push(format!("{path} belongs to the cluster {other}")),
                None => found.push(format!("{path} does not say which cluster it belongs to")),
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use explain::Explain;
    use host::Host;

    use super::*;

    const OURS: &str = "6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10";
    const OTHER: &str = "11111111-0d6c-4a43-9d0e-2f1f4d1c9b10";

    fn refused(files: &[(&str, &str)]) -> Option<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(root.path().join("var/lib/ceph/osd/ceph-9")).unwrap();
        let error = refuse(&*Host::rooted(root.path()).disk, &Fsid::parse(OURS).unwrap()).err()?;
        assert_eq!(error.code(), codes::OTHER_CLUSTER);
        Some(error.to_string())
    }

    #[test]
    fn another_cluster_is_named_with_where_it_is() {
        let conf = |fsid: &str| format!("[global]\nfsid = {fsid}\n");
        assert_eq!(refused(&[]), None);
        assert_eq!(
            refused(&[
                ("etc/ceph/ceph.conf", &conf(OURS)),
                ("var/lib/ceph/mon/ceph-m1/ceph_fsid", OURS),
                ("var/lib/ceph/osd/ceph-0/ceph_fsid", &format!("{OURS}\n")),
            ]),
            None
        );
        insta::assert_snapshot!(
            refused(&[
                ("etc/ceph/ceph.conf", &conf(OTHER)),
                ("var/lib/ceph/mon/ceph-m1/store.db/CURRENT", ""),
                ("var/lib/ceph/mgr/ceph-m1/ceph_fsid", OURS),
                ("var/lib/ceph/osd/ceph-3/ceph_fsid", OTHER),
            ])
            .unwrap()
        );
    }
}
