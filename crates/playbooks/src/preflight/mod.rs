//! What must be true of a machine before anything is changed on it: a registry of checks.
//!
//! ```text
//! registry ─► run: all at once, each with its own time limit ─► an Outcome per check ─► the step, the command
//! ```
//! A check looks and never changes anything that stays. It ends in one of five ways (see [`Finding`]); "could not look"
//! is not "found a problem" and stops nobody. Reading is apart from evaluating: what a check makes of a file's or a
//! command's text is a pure function with fixtures beside it.
//!
//! To add a check: a file in `checks/` with a `CHECK`, its line in [`registry`], a code in `codes.rs` if it can find a
//! problem. Command, step, `--skip` and the list follow from the registry.

mod check;
mod checks;
mod context;
mod run;
mod show;

pub use check::{Check, Finding, Outcome, Roles, When};
pub use context::{Answer, Context, MachineIds, NoPeers, Stage};
pub use run::{UnknownCheck, run};
pub use show::{list, show};

/// All checks, in the order in which people read them.
pub fn registry() -> &'static [Check] {
    &[
        checks::root::CHECK,
        checks::programs::CHECK,
        checks::clock::CHECK,
        checks::machine_id::CHECK,
        checks::names::CHECK,
        checks::components::CHECK,
        checks::kernel::CHECK,
        checks::cgroup::CHECK,
        checks::swap::CHECK,
        checks::ports::CHECK,
        checks::disk_space::CHECK,
        checks::disk_latency::CHECK,
        checks::other_cluster::CHECK,
    ]
}
