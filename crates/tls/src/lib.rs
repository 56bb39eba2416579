//! TLS with the cluster's own CA: clients that trust nothing else, servers whose certificate can change while they run.
//!
//! - [`client`] makes an HTTP client that trusts one CA and no other: no system roots, no proxy.
//! - [`distrust`] finds out, of a request that failed, whether the server was reached but not believed, and why.
//! - [`Listener`] serves axum over TLS, and can report clients that did not believe its certificate. Handshakes run beside each
//!   other with a deadline and a bound, so a silent client delays no other; handlers learn the [`Peer`]: its address and, where it showed one, its verified certificate.
//! - [`ServerCertificate`] is swapped after a renewal, without closing the port.
//!
//! There is one provider of cryptography in the program, aws-lc-rs; everything here installs it before use.

mod client;
pub mod codes;
mod connection;
mod connection_limit;
mod distrust;
mod error;
mod listener;
mod peer;
mod pem;
mod provider;
mod server_certificate;

pub use client::{client, loopback_client, unproven_client};
pub use connection::Connection;
pub use distrust::{Distrust, distrust};
pub use error::TlsError;
pub use listener::{ClientCa, Listener};
pub use peer::Peer;
pub use provider::install_provider;
pub use server_certificate::ServerCertificate;
