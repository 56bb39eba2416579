//! The Kubernetes API: a client from a kubeconfig, server-side apply, and what workloads still wait for; and how a pod of ours
//! answers the probes of its kubelet.
//!
//! Objects are JSON values, as manifests have them: what is applied may be of kinds this program has never heard of. An
//! object is *as wanted* when applying it would change nothing, and only the API server knows: it is asked with a dry
//! run.

mod apply;
mod client;
pub mod codes;
mod error;
mod manifest;
pub mod pod;
mod remove;
mod resource;
mod secret;
mod workload;

pub use apply::{apply, apply_all, differing};
pub use client::{connect, connect_as, connect_with_short_timeout};
pub use error::{ApiError, unless_gone};
pub use k8s_openapi;
pub use kube::{self, Client};
pub use manifest::parse;
pub use remove::{left_over, remove_all};
pub use secret::{ReconcileError, SecretData, reconcile_secret};
pub use workload::{Failure, Waiting, failure, waiting};

/// Whom the API server knows as the owner of the fields we apply.
pub const FIELD_MANAGER: &str = "blackstart";
