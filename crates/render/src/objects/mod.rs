//! Kubernetes objects for server-side apply, in an order in which they can be applied.
//!
//! To add a set: one file with one function, and one line here.

mod bootstrap;
mod cluster_version;
mod coredns;
mod csi;
mod kubeadm;
mod rbac;
mod role;
mod token;

pub use bootstrap::{BOOTSTRAP_NAME, BOOTSTRAP_NAMESPACE, bootstrap_complete, bootstrap_progress};
pub use cluster_version::{definitions, namespaces, version_operator};
pub use coredns::{Upstream, coredns};
pub use csi::csi_secret;
pub use kubeadm::{kubeadm, kubeadm_unwanted};
pub use rbac::{AGENTS_GROUP, rbac};
pub use token::{NODE_ANNOTATION, token};

/// The group of everybody who shows a bootstrap token of ours, as kubeadm names it.
const BOOTSTRAPPERS: &str = "system:bootstrappers:kubeadm:default-node-token";
