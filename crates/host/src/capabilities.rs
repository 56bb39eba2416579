//! What the kernel lets this machine do, where that decides how a component is configured.

use std::path::Path;

use crate::{Disk, HostError};

const CONTROLLERS: &str = "/sys/fs/cgroup/cgroup.controllers";
const OWN_STATUS: &str = "/proc/self/status";
const CONNTRACK_MAX: &str = "/proc/sys/net/netfilter/nf_conntrack_max";
const CONTAINER: &str = "/run/systemd/container";
const RESOLVED: &str = "/run/systemd/resolve/resolv.conf";

/// What the kernel lets this machine do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "answers to questions that have nothing to do with each other")]
pub struct Capabilities {
    /// Control groups of the second version, with all controllers in one hierarchy.
    pub cgroup_v2: bool,
    /// Whether processes may lower their out-of-memory score and raise limits (`CAP_SYS_RESOURCE`).
    pub may_raise_limits: bool,
    /// Whether the limits of connection tracking are this machine's own to set: not in a container.
    pub may_set_conntrack: bool,
    /// Whether the machine's disks are its own: not in a container, which shares those of the computer it runs on.
    pub has_own_disk: bool,
    /// systemd-resolved answers names here; `/etc/resolv.conf` then points to loopback, where pods find nothing.
    pub has_resolved: bool,
}

impl Capabilities {
    /// Looks at the machine.
    pub fn read(disk: &dyn Disk) -> Result<Self, HostError> {
        let status = disk.read_optional(Path::new(OWN_STATUS))?.unwrap_or_default();
        let conntrack = disk.meta(Path::new(CONNTRACK_MAX))?;
        Ok(Self {
            cgroup_v2: disk.exists(Path::new(CONTROLLERS))?,
            may_raise_limits: has_sys_resource(&String::from_utf8_lossy(&status)),
            may_set_conntrack: conntrack.is_none_or(|meta| meta.mode & 0o200 != 0),
            has_own_disk: !disk.exists(Path::new(CONTAINER))?,
            has_resolved: disk.exists(Path::new(RESOLVED))?,
        })
    }
}

fn has_sys_resource(status: &str) -> bool {
    const CAP_SYS_RESOURCE: u64 = 1 << 24;
    let bounding = status.lines().find_map(|line| line.strip_prefix("CapBnd:"));
    let bounding = bounding.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    bounding & CAP_SYS_RESOURCE != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capability_is_one_bit() {
        assert!(has_sys_resource("Name:\tx\nCapBnd:\t000001ffffffffff\n"));
        assert!(!has_sys_resource("CapBnd:\t000001fffeffffff\n"));
        assert!(!has_sys_resource("no such line"));
    }
}
