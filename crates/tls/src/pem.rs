//! Certificates and keys out of PEM texts.

use std::sync::Arc;

use rustls::{InconsistentKeys, crypto::aws_lc_rs, sign::CertifiedKey};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use crate::TlsError;

/// The certificates of a PEM text, at least one.
pub(crate) fn certificates(what: &'static str, pem: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|source| TlsError::Certificate { what, source: Some(source) })?;
    if found.is_empty() {
        return Err(TlsError::Certificate { what, source: None });
    }
    Ok(found)
}

/// Certificate and key, proved to belong together.
pub(crate) fn certified(what: &'static str, cert_pem: &str, key_pem: &str) -> Result<Arc<CertifiedKey>, TlsError> {
    let chain = certificates(what, cert_pem)?;
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).map_err(|source| TlsError::Key { what, source })?;
    CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider()).map(Arc::new).map_err(|source| match source {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => TlsError::Mismatch { what },
        source => TlsError::Unusable { what, source },
    })
}
