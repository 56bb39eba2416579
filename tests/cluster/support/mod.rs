//! Clusters for tests.

mod cluster;
#[path = "../../support/mod.rs"]
mod common;
mod probe;
mod request;
mod seal;

pub(crate) use cluster::{Check, Cluster, text};
pub(crate) use common::{CommandOutput, PROGRAM, TestLab, eventually, run, seed, turn};
pub(crate) use probe::{NODE_PORT, Probe};
