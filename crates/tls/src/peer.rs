//! Who is at the other end of a connection.

use std::net::{IpAddr, SocketAddr};

use rustls_pki_types::CertificateDer;

/// The other end of a connection, as handlers see it: `ConnectInfo<Peer>`.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Where the connection comes from; an IPv4 address that came in as IPv6 is shown as IPv4.
    pub address: SocketAddr,
    /// The certificate it showed, verified to be signed by the CA and valid now.
    pub certificate: Option<CertificateDer<'static>>,
}

impl Peer {
    pub(crate) fn new(address: SocketAddr, certificate: Option<CertificateDer<'static>>) -> Self {
        Self { address: SocketAddr::new(address.ip().to_canonical(), address.port()), certificate }
    }

    /// The address without the port.
    pub fn ip(&self) -> IpAddr {
        self.address.ip()
    }
}
