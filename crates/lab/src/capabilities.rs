//! Where the lab runs, and what it must do differently because of that. Nothing else in the lab asks these questions.

use std::fs;

use crate::{LabError, cgroup::Hierarchies};

/// What was found out about the computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// Control groups, old or new.
    pub(crate) cgroups: Hierarchies,
    /// Whether processes may lower their out-of-memory score and raise limits (`CAP_SYS_RESOURCE`).
    pub may_raise_limits: bool,
}

impl Capabilities {
    /// Looks at this computer.
    pub fn detect() -> Result<Self, LabError> {
        let read = |path: &str| fs::read_to_string(path).map_err(LabError::while_doing(format!("read {path}")));
        Ok(Self::from_texts(&read("/proc/self/mountinfo")?, &read("/proc/self/status")?))
    }

    fn from_texts(mountinfo: &str, status: &str) -> Self {
        const CAP_SYS_RESOURCE: u64 = 1 << 24;
        let bounding = status.lines().find_map(|line| line.strip_prefix("CapBnd:"));
        let bounding = bounding.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
        Self { cgroups: Hierarchies::from_mountinfo(mountinfo), may_raise_limits: bounding & CAP_SYS_RESOURCE != 0 }
    }

    /// What a machine runs first at every boot: nspawn mounts `/proc/sys`, and old control groups, read-only. Only after
    /// the machine's own settings are made: most are of the kernel that all share, and none of a machine's business.
    pub(crate) fn first_unit(&self) -> String {
        let mut commands = String::from("mount -o remount,bind,rw /proc/sys");
        if let Hierarchies::V1 { .. } = self.cgroups {
            commands.push_str("; for dir in /sys/fs/cgroup/*/; do mount -o remount,bind,rw \"$$dir\"; done");
        }
        format!(
            "[Unit]\n\
             Description=Make writable what a lab machine may write\n\
             DefaultDependencies=no\n\
             After=systemd-sysctl.service\n\
             Before=sysinit.target\n\n\
             [Service]\n\
             Type=oneshot\n\
             RemainAfterExit=yes\n\
             ExecStart=/bin/sh -ec '{commands}'\n\n\
             [Install]\n\
             WantedBy=sysinit.target\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "\
        25 24 0:22 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
        26 24 0:23 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n\
        27 24 0:24 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    const V2: &str = "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn old_and_new_control_groups_are_distinguished() {
        let old = Capabilities::from_texts(V1, "CapBnd:\t000001fffeffffff\n");
        assert_eq!(
            old.cgroups,
            Hierarchies::V1 {
                roots: ["cpu", "freezer", "unified"].map(|name| format!("/sys/fs/cgroup/{name}").into()).into()
            }
        );
        assert!(!old.may_raise_limits);
        let new = Capabilities::from_texts(V2, "CapBnd:\t000001ffffffffff\n");
        assert_eq!(new.cgroups, Hierarchies::V2 { root: "/sys/fs/cgroup".into() });
        assert!(new.may_raise_limits);
    }

    #[test]
    fn the_first_unit_mounts_what_is_needed() {
        insta::assert_snapshot!("first-unit-v1", Capabilities::from_texts(V1, "").first_unit());
        insta::assert_snapshot!("first-unit-v2", Capabilities::from_texts(V2, "").first_unit());
    }
}
