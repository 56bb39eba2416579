//! Leaf certificates as they lie on the machine, and their making.

use host::Change;
use jiff::Timestamp;
use rcgen::KeyPair;

use crate::{
    Input, PkiError, Reason,
    ca::Ca,
    certificate::Certificate,
    existing::Existing,
    issue, key,
    kubeconfig::{self, Identity, Proof},
    table::{Kept, Leaf},
    write,
};

/// What was found of a leaf.
pub(crate) enum Stored {
    /// No certificate. A key alone is what a crash leaves behind, and of no use.
    Nothing,
    /// The kubeconfig points to files that someone else keeps.
    Elsewhere,
    /// A certificate that could be read.
    Held(Box<Held>),
}

/// A certificate that could be read, and what belongs to it.
pub(crate) struct Held {
    pub(crate) certificate: Certificate,
    pub(crate) key: Option<KeyPair>,
    pub(crate) connection: Option<Connection>,
}

/// What a kubeconfig says beside its user's certificate.
pub(crate) struct Connection {
    pub(crate) server: String,
    pub(crate) ca_pem: Vec<u8>,
}

/// Reads a leaf. What cannot be read is an error: it may be all there is left of something.
pub(crate) fn find(leaf: &Leaf, existing: &Existing) -> Result<Stored, PkiError> {
    let held = match leaf.kept {
        Kept::Pair { stem } => {
            let key = existing.parse(&format!("{stem}.key"), key::from_pem)?;
            let certificate = existing.parse(&leaf.certificate(), Certificate::from_pem)?;
            certificate.map(|certificate| Held { certificate, key, connection: None })
        }
        Kept::Kubeconfig { path, .. } => match existing.parse(path, kubeconfig::parse)? {
            None => None,
            Some(file) => match file.identity {
                Identity::Files => return Ok(Stored::Elsewhere),
                Identity::Embedded(certificate, key) => {
                    let connection = Connection { server: file.server, ca_pem: file.ca_pem };
                    Some(Held { certificate: *certificate, key: Some(*key), connection: Some(connection) })
                }
            },
        },
    };
    Ok(held.map_or(Stored::Nothing, |held| Stored::Held(Box::new(held))))
}

/// The changes that put a new certificate with a new key in place of whatever is there.
///
/// The key is written before its certificate. A crash between the two leaves a pair that does not belong together,
/// and the next plan makes both again.
pub(crate) fn make(
    leaf: &Leaf,
    reason: Reason,
    existing: &Existing,
    input: &Input,
    ca: &Ca,
    now: Timestamp,
) -> Result<Vec<Change>, PkiError> {
    let path = existing.path(&leaf.certificate());
    let Some(issuer) = &ca.issuer else {
        return Err(PkiError::Bring { path, reason, key: ca.key_path.clone() });
    };
    let fresh = issue::leaf(leaf, input, &ca.certificate, issuer, now)
        .map_err(|source| PkiError::Issue { path: path.clone(), source })?;
    Ok(match leaf.kept {
        Kept::Pair { stem } => vec![
            write::secret(existing.path(&format!("{stem}.key")), fresh.key_pem),
            write::public(path, fresh.certificate_pem),
        ],
        Kept::Kubeconfig { server, .. } => {
            let user = leaf.common_name(&input.node);
            let server = input.server_url(server);
            let proof = Proof::Inside { certificate_pem: &fresh.certificate_pem, key_pem: &fresh.key_pem };
            vec![write::secret(path, kubeconfig::kubeconfig(&input.cluster, &user, &server, &ca.pem, proof))]
        }
    })
}
