//! CAs: found and checked, or made. What exists is never overwritten.
//!
//! | certificate | key | what it is |
//! |---|---|---|
//! | yes | yes | ours, if the two belong together |
//! | yes | no  | external: it is trusted, and its leaves have to be brought |
//! | no  | yes | a crash between the two writes: the certificate is made for the key that is there |
//! | no  | no  | made, where this node may |
//!
//! A file may hold several certificates, as it does while CAs are rotated: the one that the key belongs to signs,
//! and all of them are trusted.

use std::path::PathBuf;

use host::Change;
use jiff::Timestamp;
use rcgen::{Issuer, KeyPair};

use crate::{
    PkiError, Shared,
    certificate::Certificate,
    existing::Existing,
    issue, key,
    lifetime::{Urgency, timestamp},
    table::{CaRow, SIGNER},
    write,
};

/// A CA that has passed every check.
pub(crate) struct Ca {
    pub(crate) certificate: Certificate,
    pub(crate) certificate_path: PathBuf,
    pub(crate) key_path: PathBuf,
    /// Everything that is trusted, as kubeconfigs embed it.
    pub(crate) pem: Vec<u8>,
    /// The others that are trusted.
    pub(crate) others: Vec<Certificate>,
    /// `None` if its key is elsewhere.
    pub(crate) issuer: Option<Issuer<'static, KeyPair>>,
}

/// What was found of a CA.
pub(crate) enum CaState {
    Whole(Box<Ca>),
    KeyAlone(Box<KeyPair>),
    Absent,
}

/// Looks at what is there, and refuses what cannot be right.
pub(crate) fn find(row: &CaRow, existing: &Existing, cluster: &str, now: Timestamp) -> Result<CaState, PkiError> {
    let key = existing.parse(&row.key(), key::from_pem)?;
    let Some(mut trusted) = existing.parse(&row.certificate(), Certificate::all_from_pem)? else {
        return Ok(key.map_or(CaState::Absent, |key| CaState::KeyAlone(Box::new(key))));
    };
    let signs = |certificate: &Certificate| key.as_ref().is_some_and(|key| key::belongs_to(key, certificate));
    let certificate = trusted.remove(trusted.iter().position(signs).unwrap_or(0));
    check(&certificate, existing.path(&row.certificate()), cluster, key.is_some(), now)?;
    let pem = existing.bytes(&row.certificate()).unwrap_or_default().to_vec();
    let ca = assemble(row, existing, certificate, pem, key)?;
    Ok(CaState::Whole(Box::new(Ca { others: trusted, ..ca })))
}

/// The CA, and what has to be written for it to be there.
pub(crate) fn complete(
    row: &CaRow,
    existing: &Existing,
    cluster: &str,
    shared: Shared,
    now: Timestamp,
) -> Result<(Ca, Vec<Change>), PkiError> {
    let state = find(row, existing, cluster, now)?;
    let certificate_path = existing.path(&row.certificate());
    let key_path = existing.path(&row.key());
    let failed = |source| PkiError::Issue { path: certificate_path.clone(), source };

    let mut changes = Vec::new();
    let key = match (state, shared) {
        (CaState::Whole(ca), _) => return Ok((*ca, changes)),
        (CaState::KeyAlone(_), Shared::Bring) => return Err(PkiError::MayNotMake { missing: vec![certificate_path] }),
        (CaState::Absent, Shared::Bring) => {
            return Err(PkiError::MayNotMake { missing: vec![certificate_path, key_path] });
        }
        (CaState::KeyAlone(key), Shared::Make) => *key,
        (CaState::Absent, Shared::Make) => {
            let key = key::generate().map_err(|error| failed(error.into()))?;
            changes.push(write::secret(key_path, key.serialize_pem()));
            key
        }
    };
    let pem = issue::ca(row, cluster, &key, now).map_err(failed)?;
    changes.push(write::public(certificate_path.clone(), pem.clone()));
    let certificate = Certificate::from_pem(pem.as_bytes()).map_err(|why| failed(why.into()))?;
    Ok((assemble(row, existing, certificate, pem.into_bytes(), Some(key))?, changes))
}

/// The certificate that signs for the controller manager, if it is another one than in its file.
pub(crate) fn controller_manager_signer(existing: &Existing, ca: &Ca) -> Option<Change> {
    let wanted = ca.certificate.pem();
    let differs = existing.bytes(SIGNER) != Some(wanted.as_bytes());
    differs.then(|| write::public(existing.path(SIGNER), wanted))
}

fn assemble(
    row: &CaRow,
    existing: &Existing,
    certificate: Certificate,
    pem: Vec<u8>,
    key: Option<KeyPair>,
) -> Result<Ca, PkiError> {
    let certificate_path = existing.path(&row.certificate());
    let key_path = existing.path(&row.key());
    let issuer = match key {
        None => None,
        Some(key) if !key::belongs_to(&key, &certificate) => {
            return Err(PkiError::KeyMismatch { key: key_path, other: certificate_path });
        }
        Some(_) if !certificate.can_be_named_as_issuer() => {
            return Err(PkiError::IssuerName { path: certificate_path });
        }
        Some(key) => {
            let issuer = Issuer::from_ca_cert_der(&certificate.der().into(), key);
            Some(issuer.map_err(|_| PkiError::IssuerName { path: certificate_path.clone() })?)
        }
    };
    Ok(Ca { certificate, certificate_path, key_path, pem, others: Vec::new(), issuer })
}

fn check(certificate: &Certificate, path: PathBuf, cluster: &str, signs: bool, now: Timestamp) -> Result<(), PkiError> {
    let lifetime = certificate.lifetime;
    // One that only has to be trusted is good to its last second; one that signs is not.
    let over = if signs { lifetime.is_in_its_last_hour(now) } else { lifetime.urgency(now) == Urgency::Expired };
    let self_signed = certificate.is_issued_in_the_name_of(certificate);
    match issue::marked_cluster(certificate) {
        _ if self_signed && !certificate.is_signed_by(certificate) => {
            Err(PkiError::Unreadable { path, why: "its certificate is damaged" })
        }
        Some(found) if found != cluster => {
            Err(PkiError::OtherCluster { path, found: found.to_owned(), expected: cluster.to_owned() })
        }
        _ if !certificate.is_ca => Err(PkiError::NotACa { path }),
        _ if over => Err(PkiError::CaExpired { path, when: timestamp(lifetime.not_after) }),
        _ if !lifetime.has_begun(now) => Err(PkiError::CaNotYetValid { path, when: timestamp(lifetime.not_before) }),
        _ => Ok(()),
    }
}
