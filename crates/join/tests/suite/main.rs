//! Joining from end to end: sealed directories on a real file system, a real server and real clients over TLS.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a failing unwrap in a test is the failure we want to see")]

mod ceph;
mod early;
mod holding;
mod hostile;
mod joining;
mod leaving;
mod masters;
mod refusals;
mod replay;
mod sealing;
mod shared;
mod stolen;
mod trust;
mod world;
