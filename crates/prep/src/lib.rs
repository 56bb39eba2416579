//! Nodes that are prepared from inside the cluster.
//!
//! The work itself is a [`playbook`], run by `blackstart prep iscsi` on the node. It leaves a [`Report`]
//! there, which is all that the pod of the `DaemonSet` needs to know: it starts the work as a unit of the host, follows
//! it, and passes on to the cluster what the report says ([`pod`]).
//!
//! The manifests are in `infrastructure/node-bootstrap`; a test here compares them with the names and
//! paths of this crate.

pub mod codes;
mod error;
pub mod names;
pub mod paths;
pub mod playbook;
pub mod pod;
mod probe;
mod report;
mod reported;
#[cfg(test)]
mod samples;

pub use error::PodError;
pub use probe::Signs;
pub use report::{Prep, Report, Requirement, State, Verdict};
pub use reported::Reported;
