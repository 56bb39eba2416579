//! A server's certificate, which can be replaced while connections are served.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::{
    InconsistentKeys,
    crypto::aws_lc_rs,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use rustls_pki_types::{PrivateKeyDer, pem::PemObject};

use crate::{TlsError, client::certificates};

/// A certificate with its key. Clones are the same one: what is replaced here is replaced for every listener.
#[derive(Debug, Clone)]
pub struct ServerCertificate(Arc<Current>);

#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ServerCertificate {
    /// From PEM texts.
    pub fn new(cert_pem: &str, key_pem: &str) -> Result<Self, TlsError> {
        let key = certified("server certificate", cert_pem, key_pem)?;
        Ok(Self(Arc::new(Current(RwLock::new(key)))))
    }

    /// New connections see the new certificate; those that are open stay. On an error the old one stays.
    pub fn replace(&self, cert_pem: &str, key_pem: &str) -> Result<(), TlsError> {
        let key = certified("server certificate", cert_pem, key_pem)?;
        *self.0.0.write().unwrap_or_else(PoisonError::into_inner) = key;
        Ok(())
    }

    pub(crate) fn resolver(&self) -> Arc<dyn ResolvesServerCert> {
        Arc::clone(&self.0) as Arc<dyn ResolvesServerCert>
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner)))
    }
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
