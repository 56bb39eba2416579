//! A node is worked on in place: the node's side of it.
//!
//! ```text
//!  Order, an annotation of the Node ─► node/ (pure next, a note on disk) ─► driver: checks · stage 1 · reboot · stage 2 · way back
//!                                        │
//!  NodeReport, an annotation  ◄──────────┘        all of it with the kubelet's own credential
//! ```
//! [`node`] is the program of two units of the host. One follows orders while the kubelet runs; the other, a oneshot before the
//! kubelet, goes on with what a reboot has interrupted. Neither needs a pod, the label or the API to go on or to go back. The
//! pod ([`door`]) only brings program and units, and removes the label when the node is armed.
//!
//! [`by_hand`] makes the checks alone, for people.
//!
//! A driver ([`drivers`]) is checks and lists of steps. It knows no phase, no order and no API, so that a new one is a module
//! beside the others and a line in its list.

pub mod by_hand;
pub mod codes;
pub mod door;
pub mod drivers;
pub mod fetch;
pub mod node;
pub mod paths;
mod run;
mod secret;

pub use run::Run;
pub use secret::{Secret, read_keys};
