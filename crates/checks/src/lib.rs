//! Checks of a machine: what a check is, how all of them are run, and those that come before a bootstrap.
//!
//! ```text
//! a registry ─► run: all at once, each within its limit ─► an Outcome per check ─► preflight's lines · diagnose's causes
//! ```
//! A check reads and never changes anything that stays. It ends with what it found, which is nothing where all is well, or
//! with why it could not check: that is not a problem and stops nothing. Reading is apart from evaluating: what a check
//! makes of a file's or a command's text is a pure function with fixtures beside it.
//!
//! [`preflight`] is the registry of what must be true before anything is changed; what commonly breaks afterwards is in
//! the crate `diagnose`. To add a check: a file with a `CHECK`, and its line in the registry.

mod check;
pub mod codes;
mod finding;
mod part;
pub mod preflight;
mod run;
pub mod show;
mod subject;

pub use check::{Check, Checking, Roles, When};
pub use finding::{Finding, Inconclusive, Kind};
pub use part::Part;
pub use run::{End, Outcome, run, run_all};
pub use subject::{Answer, MachineIds, NoPeers, Subject};
