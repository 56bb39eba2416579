//! What must be known of the machine before anything can be rendered for it.

use std::path::PathBuf;

/// Facts of the machine that decide some settings; found out by the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The version of its control groups.
    pub cgroup: Cgroup,
    /// Whether a process may lower its out-of-memory score: `CAP_SYS_RESOURCE` is in the bounding set.
    pub may_raise_limits: bool,
    /// Whether the size of the connection tracking table may be set. Only in the kernel's first network namespace, so
    /// not in a container: `/proc/sys/net/netfilter/nf_conntrack_max` has no write permission there.
    pub may_size_conntrack: bool,
    /// Whether its disks are its own. A share of a disk that others fill says nothing about this machine.
    pub has_own_disk: bool,
    /// The file that names the real name servers: `/etc/resolv.conf`, or `/run/systemd/resolve/resolv.conf` where the
    /// former leads to systemd-resolved, which no pod can reach.
    pub resolv_conf: PathBuf,
}

/// The version of the control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cgroup {
    /// One hierarchy per controller.
    V1,
    /// One hierarchy.
    V2,
}
