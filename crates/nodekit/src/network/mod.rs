//! The network of a machine: its interfaces and addresses, who answers, and NetworkManager with its guard.

pub mod guard;
pub mod interface;
pub mod links;
pub mod manager;
pub mod reach;
