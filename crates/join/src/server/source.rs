//! Whom a request is put down to: the name in a verified certificate at its address, or else the address alone.
//!
//! A node shares its address with whatever runs on it. So a client that shows a certificate answers for itself only, and never
//! for what strangers do from the same address; nor for who has stolen its certificate and uses it from another.

use std::{fmt, net::IpAddr};

use tls::Peer;
use x509_parser::parse_x509_certificate;

/// Who made a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// Of this common name in a certificate of the cluster, at this address.
    Certificate(String, IpAddr),
    /// Without a certificate.
    Address(IpAddr),
}

impl Source {
    pub(crate) fn of(peer: &Peer) -> Self {
        match &peer.certificate {
            Some(certificate) => Self::Certificate(common_name(certificate), peer.ip()),
            None => Self::Address(peer.ip()),
        }
    }

    pub(crate) fn is_stranger(&self) -> bool {
        matches!(self, Self::Address(_))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certificate(name, address) => write!(f, "{name} at {address}"),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// Of a certificate that TLS has verified. What has no name shares one with its like.
fn common_name(certificate: &[u8]) -> String {
    let Ok((_, certificate)) = parse_x509_certificate(certificate) else { return String::new() };
    let name = certificate.subject().iter_common_name().find_map(|name| name.as_str().ok());
    explain::plain(name.unwrap_or_default()).into_owned()
}
