//! A config that only says where a node's config is, for a medium that is the same size whatever is in the config, or that
//! others may see: it holds a proof of the node's secret, not the secret.
//!
//! Three things vouch for what is fetched: TLS under the cluster's CA, the proof in a header, without which nothing is
//! given, and the sum of the bytes that must come.

use explain::{Code, Explain};

use crate::{
    codes,
    config::{Config, Header, Merge, Resource, Security, Tls, Verification},
    sum,
};

/// Where the config of a node is, and how it is asked for. Holds a proof, so it cannot be printed.
pub struct Pointer<'a> {
    /// The server, `https://10.0.0.9:22623`.
    pub server: &'a str,
    /// The node's name.
    pub node: &'a str,
    /// The value of the `Authorization` header.
    pub authorization: &'a str,
    /// The CA behind the server's certificate, PEM.
    pub ca_pem: &'a str,
    /// The bytes that must come.
    pub served: &'a [u8],
}

/// A URL that no pointer can have. It is not repeated: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not an https URL of a server")]
pub struct BadUrl;

impl Explain for BadUrl {
    fn code(&self) -> Code {
        codes::POINTER
    }
}

impl Pointer<'_> {
    /// The config.
    pub fn config(&self) -> Result<Config, BadUrl> {
        let server = self.server.trim_end_matches('/');
        let rest = server.strip_prefix("https://").ok_or(BadUrl)?;
        let is_odd = |letter: char| !letter.is_ascii_graphic() || "?#@\"\\".contains(letter);
        if rest.is_empty() || rest.starts_with('/') || rest.contains(is_odd) {
            return Err(BadUrl);
        }
        let header = Header { name: "Authorization".to_owned(), value: self.authorization.to_owned() };
        let mut config = Config::empty();
        config.ignition.config = Some(Merge {
            merge: vec![Resource {
                source: format!("{server}/config/{}", self.node),
                http_headers: vec![header],
                verification: Some(Verification { hash: sum::verification(self.served) }),
            }],
        });
        let ca = Resource::inside(self.ca_pem.as_bytes());
        config.ignition.security = Some(Security { tls: Tls { certificate_authorities: vec![ca] } });
        Ok(config)
    }
}
