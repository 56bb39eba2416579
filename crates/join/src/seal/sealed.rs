//! A node's own sealed directory, as the node reads it.

use std::{net::SocketAddr, path::Path};

use host::Disk;
use spec::{ValidatedCluster, ports};

use super::{SealError, existing::parsed, layout};
use crate::{JoinKey, NodeSecret};

/// What a node knows before it has talked to anybody.
#[derive(Debug)]
pub struct Sealed {
    /// Its own secret.
    pub secret: NodeSecret,
    /// The cluster's authority, PEM; it fits the pin.
    pub ca_pem: String,
    /// `sha256:…` of the authority's public key.
    pub pin: String,
    /// On masters that hold it.
    pub join_key: Option<JoinKey>,
}

impl Sealed {
    /// Reads `/etc/cluster-config`; `None` if it was not sealed, an error if a part of it is missing or exchanged.
    pub fn read(disk: &dyn Disk, dir: &Path) -> Result<Option<Self>, SealError> {
        let [secret, authority, pin] = [layout::SECRET, layout::CA, layout::PIN].map(|name| dir.join(name));
        let Some(own) = parsed(disk, &secret, NodeSecret::parse)? else { return Ok(None) };
        let text = |path: &Path| match disk.read_optional(path)? {
            Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            None => Err(SealError::Missing { path: path.to_path_buf() }),
        };
        let ca_pem = text(&authority)?;
        let expected = text(&pin)?.trim().to_owned();
        let seen = pki::spki_pin(ca_pem.as_bytes())
            .map_err(|source| SealError::Authority { path: authority.clone(), source })?;
        if seen != expected {
            return Err(SealError::Pin { authority, pin });
        }
        let join_key = parsed(disk, &dir.join(layout::JOIN_KEY), JoinKey::parse)?;
        Ok(Some(Self { secret: own, ca_pem, pin: expected, join_key }))
    }

    /// Where the join services of a cluster are, the first master's first: whom a sealed node talks to.
    pub fn masters(cluster: &ValidatedCluster) -> Vec<SocketAddr> {
        cluster.masters().map(|master| SocketAddr::new(master.ip, ports::JOIN)).collect()
    }
}
