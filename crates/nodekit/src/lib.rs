//! What every program on a node needs: where things are, which node this is, systemd, packages, cleaning up, records of runs.
//!
//! ```text
//! layout       the directories of a machine           kubeconfig   who a kubeconfig says one is
//! identity     which node of cluster.yaml this is     network      interfaces, who answers, NetworkManager
//! systemd      units and their states                 run_record   what a run of a playbook did, from its events
//! packaging    apt and dnf, their locks and failures  cleanup      processes, mounts, rules that a node leaves behind
//! milestones   the 13 of a bootstrap node              bootkube     what its journal says of them
//! boxes        the same as people see them             from_pod     a pod's way to its node's programs
//! ```
//! It is below the playbooks and the agent, and knows neither.

pub mod apt;
mod boot;
pub mod bootkube;
pub mod boxes;
pub mod cleanup;
pub mod codes;
pub mod dnf;
pub mod from_pod;
pub mod identity;
pub mod kernel_modules;
pub mod kubeconfig;
mod layout;
pub mod milestones;
pub mod network;
pub mod package_manager;
pub mod packaging;
pub mod run_record;
pub mod systemd;

pub use boot::{BOOT_ID, boot_id};
pub use layout::Layout;
