//! Proof, not belief: what the engine promises, tried against kills, power cuts, damage, a full disk and chance.
//!
//! `kill`, `locking` and `signals` run a real process (`examples/survivor`) on real files; the others run the engine in
//! this process, most of them on a model of a disk and with a clock that does not wait.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failing unwrap in a test is the failure we want to see; a skipped test says so"
)]

mod events_page;
mod fetching;
mod graphs;
mod kill;
mod ledger_damage;
mod ledger_power_loss;
mod locking;
mod narration;
mod originals;
mod power_loss;
mod runner;
mod signals;
mod stopping;
mod support;
mod undoing;
mod waiting;
