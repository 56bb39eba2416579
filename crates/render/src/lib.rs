//! From a checked cluster to unit files, configurations and manifests; pure.
//!
//! Every function here takes a [`spec::ValidatedCluster`], the node it is for and facts of the machine, and returns
//! text or Kubernetes objects. Nothing is read, nothing is written, nothing can fail: the caller compares the result
//! with the machine and changes what differs.
//!
//! ```text
//! services/   one file per systemd service: its unit and the files it reads     Service
//! process     what a unit and a static pod of it have in common                 Process, RenderedFile
//! units       our own three units                                               Service
//! network/    NetworkManager's files and /etc/hosts                             RenderedFile, String
//! objects/    what is applied to the API                                        Vec<serde_json::Value>
//! ```
//! Below them, `unit` writes systemd's format and `yaml` writes YAML.
//!
//! To add a service: one file in `services/` that ends in `Unit::into_service`, one line in its `mod.rs`, one snapshot.

mod address;
mod machine;
pub mod network;
pub mod objects;
mod paths;
mod process;
mod service;
mod services;
mod static_pod;
mod unit;
pub mod units;
mod yaml;

#[cfg(test)]
mod samples;

pub use machine::{Cgroup, Machine};
pub use process::Process;
pub use service::{CONFIG_VARIABLE, RenderedFile, Service};
pub use services::*;
pub use static_pod::MANIFESTS as STATIC_PODS;
pub use yaml::document;
