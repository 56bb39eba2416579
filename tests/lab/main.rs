//! The lab with real machines: boots them, breaks them, and looks at what is left of them.
//!
//! `cargo test --workspace --test lab`, as root; plain `cargo test` leaves it out. One file per theme. The tests run one
//! after the other, because some compare the whole computer before and after. A test makes its machines with
//! [`support::TestLab`], which removes them also when the test fails. To add a theme: a file here and its line below.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]

mod components;
mod destroy;
mod exec;
mod ignition;
mod image;
mod partition;
mod power;
mod refusals;
mod resume;
mod support;
mod up;
