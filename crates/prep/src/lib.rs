//! Nodes that are prepared from inside the cluster.
//!
//! The work itself is a playbook (`playbooks::prep`), run by `blackstart prep iscsi` on the node. It leaves a [`Report`]
//! there, which is all that the pod of the DaemonSet needs to know: it starts the work as a unit of the host, follows
//! it, and tells the cluster what the report says.

pub mod paths;
mod report;

pub use report::{Prep, Report, Requirement, State, Verdict};
