//! The cluster's description: `cluster.yaml` and `nodes/*.yaml` in, a [`ValidatedCluster`] out.
//!
//! The path of data, each stage in its own module:
//! ```text
//! source    the files as text                    Sources
//! yaml      text to a tree with places           Node
//! read      tree to the shapes users write       ClusterFile, NodeFile   (file, values)
//! draft     both kinds of files side by side, defaults filled in
//! checks    what is wrong between values         a registry of pure functions
//! validate  no error left: the cluster           ValidatedCluster
//! ```
//! Every stage collects [`Problem`]s and goes on, so that a user sees all of them at once. [`report`] prints them.

mod checks;
mod cluster;
pub mod codes;
mod draft;
mod excerpt;
mod file;
mod location;
mod path;
pub mod ports;
mod problem;
mod problems;
mod read;
mod report;
mod schema;
mod secret;
mod source;
mod validate;
mod values;
mod yaml;

pub use cluster::*;
pub use problem::{Also, Position, Problem, Severity};
pub use report::report;
pub use schema::{node_schema, schema};
pub use source::Sources;
pub use validate::{Checked, check, check_dir, check_text};
pub use values::NotAMac;
