//! One file per check: `CHECK` on top, the check below it, then what it makes of what it saw.

pub(super) mod cgroup;
pub(super) mod clock;
pub(super) mod components;
pub(super) mod disk_latency;
pub(super) mod disk_space;
pub(super) mod kernel;
pub(super) mod machine_id;
pub(super) mod names;
pub(super) mod other_cluster;
pub(super) mod ports;
pub(super) mod programs;
pub(super) mod root;
pub(super) mod swap;
