//! A reset on real machines: what is left, what is spared, and whether the machine becomes a node again.
//!
//! `cargo test --workspace --test reset`, as root; plain `cargo test` leaves it out. Everything that can be seen of a
//! machine is written down before it ever ran us ([`support::Picture`]) and compared after every reset. To add a way in which
//! a node may be when it is reset: a function in the file of its theme, and its line in the list there.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stderr, reason = "a test with many checks says which one it is at")]

mod asked;
#[path = "../support/cases.rs"]
#[expect(dead_code, reason = "shared with suites that need more of it")]
mod cases;
mod foreign;
mod kept;
mod support;
mod unfinished;
mod worked;

use cases::in_turn;
use support::{Machines, turn};

/// One after the other, on the same two machines: each check begins and ends with machines that are nothing.
#[test]
fn a_machine_is_as_if_it_had_never_been_a_node() {
    let _turn = turn();
    let machines = Machines::new();
    machines.check(&[asked::CHECKS, worked::CHECKS, foreign::CHECKS, kept::CHECKS, &in_turn(unfinished::CHECKS, 2)]);
}
