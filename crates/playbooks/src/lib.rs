//! What is done on a machine: lists of steps, one step per file.
//!
//! Each playbook is a folder whose `mod.rs` is its table of contents. To add a step: a new file in that folder, one line
//! in its list, one snapshot. `docs/development.md` shows it.

mod access;
pub mod admissions;
mod apt;
pub mod ceph;
pub mod checking;
mod cleanup;
pub mod cluster;
pub mod codes;
mod dnf;
mod etcd_access;
pub mod identity;
mod kubeconfig;
mod layout;
mod packaging;
pub mod preflight;
pub mod prep;
pub mod program_image;
pub mod remove;
pub mod run_record;
mod service;
mod shown;
pub mod systemd;

pub use layout::Layout;
pub use shown::shown;
