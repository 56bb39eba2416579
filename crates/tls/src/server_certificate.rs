//! A server's certificate, which can be replaced while connections are served.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::{
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use crate::{TlsError, pem::certified};

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
