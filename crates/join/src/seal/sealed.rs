//! A node's own sealed directory, as the node reads it.

use std::{net::SocketAddr, path::Path};

use host::Disk;
use jiff::Timestamp;
use secrecy::SecretString;
use spec::{ValidatedCluster, ports};

use super::{SealError, existing::parsed, layout};
use crate::{JoinKey, NodeSecret};

/// Whether a certificate may be shown by a client.
fn identifies(pem: &[u8]) -> bool {
    let Ok((_, block)) = x509_parser::pem::parse_x509_pem(pem) else { return false };
    let usage = block
        .parse_x509()
        .ok()
        .and_then(|found| found.extended_key_usage().ok().flatten().map(|usage| usage.value.client_auth));
    usage == Some(true)
}

/// Certificate and key of one PEM text.
pub fn split(pem: &str) -> Option<(String, SecretString)> {
    let key = pem.find("-----BEGIN PRIVATE KEY-----").or_else(|| pem.find("-----BEGIN EC PRIVATE KEY-----"))?;
    let (certificate, key) = pem.split_at(key);
    Some((certificate.to_owned(), key.to_owned().into()))
}

/// What a node knows before it has talked to anybody.
#[derive(Debug)]
pub struct Sealed {
    /// Its own secret.
    pub secret: NodeSecret,
    /// The cluster's CA, PEM; it fits the pin.
    pub ca_pem: String,
    /// `sha256:…` of the CA's public key.
    pub pin: String,
    /// On masters that hold it.
    pub join_key: Option<JoinKey>,
}

impl Sealed {
    /// Reads `/etc/cluster-config`; `None` if it was not sealed, an error if a part of it is missing or exchanged.
    pub fn read(disk: &dyn Disk, dir: &Path) -> Result<Option<Self>, SealError> {
        let [secret, ca, pin] = [layout::SECRET, layout::CA, layout::PIN].map(|name| dir.join(name));
        let Some(own) = parsed(disk, &secret, NodeSecret::parse)? else { return Ok(None) };
        let text = |path: &Path| match disk.read_optional(path)? {
            Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            None => Err(SealError::Missing { path: path.to_path_buf() }),
        };
        let ca_pem = text(&ca)?;
        let expected = text(&pin)?.trim().to_owned();
        let seen = pki::spki_pin(ca_pem.as_bytes()).map_err(|source| SealError::Ca { path: ca.clone(), source })?;
        if seen != expected {
            return Err(SealError::Pin { ca, pin });
        }
        let join_key = parsed(disk, &dir.join(layout::JOIN_KEY), JoinKey::parse)?;
        Ok(Some(Self { secret: own, ca_pem, pin: expected, join_key }))
    }

    /// What a master shows to the others before it has joined: certificate and key, PEM. `None` on workers, and where it is
    /// not good now: then it is asked as a stranger.
    pub fn shown(disk: &dyn Disk, dir: &Path, now: Timestamp) -> Result<Option<(String, SecretString)>, SealError> {
        let [serving, ca] = [layout::SERVING, layout::CA].map(|name| dir.join(name));
        let (Some(serving), Some(ca)) = (disk.read_optional(&serving)?, disk.read_optional(&ca)?) else {
            return Ok(None);
        };
        // One that was sealed for serving only would end the handshake.
        let is_good = pki::certificate_flaw(&serving, &ca, now).is_none() && identifies(&serving);
        Ok(split(&String::from_utf8_lossy(&serving)).filter(|_| is_good))
    }

    /// Where the join services of a cluster are, that of the machine which starts it first: whom a sealed node talks to.
    pub fn masters(cluster: &ValidatedCluster) -> Vec<SocketAddr> {
        cluster.control_plane().map(|master| SocketAddr::new(master.ip, ports::JOIN)).collect()
    }
}
