//! The OSDs of this node: first the data of each, then the daemons.
//!
//! ```text
//! data    listed in cluster.yaml and free     ─► begun: UUID and key, noted before the monitors know them
//!                                             ─► a number from the monitors ─► made beside its place ─► moved there
//!         of ours, but its files are gone ─► files again from the labels in the data
//! run     what is in place ─► enabled, started, known to be up
//! ```
//! `stores` shows for each listed device or file how far it has come. Killed anywhere, a run goes on with the UUID and key
//! of before: for the monitors that is the same question again.

mod adopt;
mod begun;
mod data;
mod make;
mod run;
mod stores;

pub(super) use self::{
    data::{Data, Stores},
    run::{Run, Stopped},
};
