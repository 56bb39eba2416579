//! Real machines on one computer: systemd-nspawn, a bridge, and a supervisor per machine.
//!
//! `lab up` is a playbook like any other: packages, base image, network, machines, each step looking at what is there.
//! A machine is an overlay over the shared base image, booted by its own supervisor ([`supervise()`]). The supervisor has
//! its own mount and network namespace, so overlay, network link and everything in them go away with it, however it
//! ends. What stays for [`destroy()`] to remove are control groups, the bridge, two nft tables, files, and some settings
//! of the kernel (`settings`).
//!
//! What must be done differently because of where the lab runs is found out in [`Capabilities`], and only there.

mod base;
mod capabilities;
mod ceph_layer;
mod cgroup;
pub mod codes;
mod config;
mod copy;
mod cuts;
mod destroy;
mod enter;
mod error;
mod first_boot;
mod lock;
mod machine;
mod name;
mod network;
mod outside_status;
mod packages;
mod power;
mod prepare;
mod record;
mod run;
mod settings;
mod status;
pub mod steps;
mod subnet;
mod supervise;

pub use capabilities::Capabilities;
pub use config::{Shape, cluster_yaml};
pub use copy::copy;
pub use cuts::{Cut, cut, heal};
pub use destroy::{Destroyed, destroy};
pub use error::LabError;
pub use machine::Machine;
pub use name::LabName;
pub use outside_status::{OutsideStatus, Power, outside_status};
pub use packages::check_root;
pub use power::{Exec, down, exec, inside, kill, logs, pause, reboot, resume, wipe, wipe_for_ignition};
pub use prepare::{Machines, Plan, Prepared, prepare};
pub use record::{Lab, MachineRecord};
pub use status::{MachineState, MachineStatus, list, status};
pub use supervise::supervise;
