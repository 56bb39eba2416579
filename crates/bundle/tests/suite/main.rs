//! Bundles from end to end.
//!
//! `support::publisher` is a web server that offers small stand-ins for all components, laid out and checksummed as the
//! real publishers do, so that whole bundles are made in a second. `reproducible` builds a real component with `go`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failing unwrap in a test is the failure we want to see"
)]

mod building;
mod given;
mod kill;
mod packing;
mod reproducible;
mod support;
mod verifying;
