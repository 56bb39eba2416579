//! Two machines that become nodes and are reset, again and again.

#[path = "../../support/mod.rs"]
mod common;
mod machines;
mod picture;

pub(crate) use common::{CommandOutput, eventually, seed, turn};
pub(crate) use machines::{Check, MASTER, Machines, WORKER};
pub(crate) use picture::Picture;
