//! The node's place in the network: its address, what `NetworkManager` must leave alone, and the other nodes' names.

mod connection;
mod hosts;
mod unmanaged;

pub use connection::connection;
pub use hosts::hosts;
pub use unmanaged::unmanaged;
