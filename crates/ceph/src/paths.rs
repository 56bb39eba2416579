//! Where everything of Ceph lies on a machine, and how to see which cluster it belongs to.
//!
//! Every directory of a daemon holds a file [`CEPH_FSID`] with the cluster it belongs to: OSDs write it themselves, for
//! monitors and managers we do. So one question fits all, and what does not answer with our own fsid is not ours.

use std::path::{Path, PathBuf};

use host::{Disk, HostError};

use crate::Fsid;

/// Configuration and the administrator's key.
pub const ETC: &str = "/etc/ceph";
/// The configuration.
pub const CONF: &str = "/etc/ceph/ceph.conf";
/// Which cluster this machine belongs to; written when all its keys are there.
pub const FSID: &str = "/etc/ceph/cluster.fsid";
/// The administrator's key.
pub const ADMIN_KEYRING: &str = "/etc/ceph/ceph.client.admin.keyring";
/// The key with which OSDs are made.
pub const BOOTSTRAP_OSD_KEYRING: &str = "/var/lib/ceph/bootstrap-osd/ceph.keyring";
/// Data of monitors.
pub const MON: &str = "/var/lib/ceph/mon";
/// Keys of managers.
pub const MGR: &str = "/var/lib/ceph/mgr";
/// Data of OSDs.
pub const OSD: &str = "/var/lib/ceph/osd";
/// What daemons log.
pub const LOGS: &str = "/var/log/ceph";

/// The file in a daemon's directory that names its cluster.
pub const CEPH_FSID: &str = "ceph_fsid";

/// What a daemon's directory is called: `ceph-` and its name or number.
pub const PREFIX: &str = "ceph-";

/// A monitor's data.
pub fn mon(name: &str) -> PathBuf {
    Path::new(MON).join(format!("{PREFIX}{name}"))
}

/// A manager's key.
pub fn mgr(name: &str) -> PathBuf {
    Path::new(MGR).join(format!("{PREFIX}{name}"))
}

/// An OSD's data.
pub fn osd(id: u32) -> PathBuf {
    Path::new(OSD).join(format!("{PREFIX}{id}"))
}

/// The directories of daemons in one of [`MON`], [`MGR`] and [`OSD`], by name or number, with the cluster each says it
/// belongs to. Empty ones do not count.
pub fn daemons(disk: &dyn Disk, dir: &str) -> Result<Vec<(String, Option<Fsid>)>, HostError> {
    let mut found = Vec::new();
    if !disk.exists(Path::new(dir))? {
        return Ok(found);
    }
    for entry in disk.list(Path::new(dir))? {
        let Some(name) = entry.strip_prefix(PREFIX) else { continue };
        let path = Path::new(dir).join(&entry);
        if disk.list(&path)?.is_empty() {
            continue;
        }
        let text = disk.read_optional(&path.join(CEPH_FSID))?.unwrap_or_default();
        found.push((name.to_owned(), Fsid::parse(&String::from_utf8_lossy(&text))));
    }
    Ok(found)
}

/// The cluster that this machine belongs to, if we made it a part of one.
pub fn own_fsid(disk: &dyn Disk) -> Result<Option<Fsid>, HostError> {
    let text = disk.read_optional(Path::new(FSID))?.unwrap_or_default();
    Ok(Fsid::parse(&String::from_utf8_lossy(&text)))
}

/// The cluster that a configuration names.
pub fn fsid_of_conf(text: &str) -> Option<Fsid> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == "fsid").then(|| Fsid::parse(value))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_names_its_cluster() {
        let fsid = "6a8f1f3e-0d6c-4a43-9d0e-2f1f4d1c9b10";
        for (text, expected) in [
            (format!("[global]\n\tfsid={fsid}\nmon host = a\n"), Some(fsid)),
            (format!("[global]\nfsid = {fsid}\n"), Some(fsid)),
            ("[global]\nfsid = none\n".to_owned(), None),
            ("[global]\n".to_owned(), None),
        ] {
            assert_eq!(fsid_of_conf(&text).as_ref().map(Fsid::as_str), expected, "{text}");
        }
    }
}
