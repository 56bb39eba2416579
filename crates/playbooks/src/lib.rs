//! What is done on a machine: lists of steps, one step per file.
//!
//! Each playbook is a folder whose `mod.rs` is its table of contents. To add a step: a new file in that folder, one line
//! in its list, one snapshot. `docs/development.md` shows it.

mod access;
pub mod admissions;
pub mod ceph;
pub mod cluster;
pub mod codes;
mod etcd_access;
pub mod first_boot;
mod membership;
mod node_pods;
pub mod program_image;
pub mod remove;
mod service;
mod shown;

pub use shown::shown;
