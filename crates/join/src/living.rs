//! What shows that a node's machine is alive.

use jiff::Timestamp;

/// A machine that is a node, and is alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Living {
    /// See [`crate::machine_id`].
    pub machine: String,
    /// What it is known by.
    pub sign: Sign,
}

/// What a machine is known to live by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Its agent has reported, with its certificate, at this moment.
    Reported(Timestamp),
    /// Its Node is Ready since this moment.
    Ready(Timestamp),
}
