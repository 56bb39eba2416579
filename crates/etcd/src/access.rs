//! A master's way to etcd: the certificate that health checks use, and every member's address.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use explain::{Code, Explain};
use host::{Disk, HostError};
use tls::TlsError;

use crate::{Etcd, client_url, codes};

// Below the directory of Kubernetes.
const CA: &str = "pki/etcd/ca.crt";
const CERTIFICATE: &str = "pki/etcd/healthcheck-client.crt";
const KEY: &str = "pki/etcd/healthcheck-client.key";

/// Why there is no way to etcd from here.
#[derive(Debug, thiserror::Error)]
pub enum NoAccess {
    /// No master, or not yet.
    #[error("there is no {}, the client certificate for etcd", .0.display())]
    Missing(PathBuf),
    /// A file cannot be read.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A file is not what it should be.
    #[error("the certificate for etcd cannot be used")]
    Tls(#[from] TlsError),
}

impl Explain for NoAccess {
    fn code(&self) -> Code {
        match self {
            Self::Missing(_) => codes::NO_ACCESS,
            Self::Host(error) => error.code(),
            Self::Tls(error) => error.code(),
        }
    }
}

/// What it takes to talk to any member.
#[derive(Clone)]
pub struct Access {
    http: reqwest::Client,
}

impl Access {
    /// With the certificate of this master.
    pub fn read(disk: &dyn Disk, kubernetes_dir: &Path) -> Result<Self, NoAccess> {
        let text = |name: &str| {
            let path = kubernetes_dir.join(name);
            match disk.read_optional(&path)? {
                Some(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
                None => Err(NoAccess::Missing(path)),
            }
        };
        let (ca, certificate, key) = (text(CA)?, text(CERTIFICATE)?, text(KEY)?);
        Ok(Self { http: tls::client(&ca, Some((&certificate, &key)))? })
    }

    /// The member on this machine.
    pub fn own(&self) -> Etcd {
        self.member(client_url(Ipv4Addr::LOCALHOST.into()))
    }

    #[cfg(test)]
    pub(crate) fn without_tls() -> Self {
        Self { http: tls::loopback_client().unwrap() }
    }

    /// The member that answers at this URL.
    pub fn member(&self, url: impl Into<String>) -> Etcd {
        Etcd::new(self.http.clone(), url)
    }
}

#[cfg(test)]
mod tests {
    use host::disk::model::ModelDisk;

    use super::*;

    #[test]
    fn a_machine_that_is_no_master_is_reported_as_such() {
        let error = Access::read(&ModelDisk::default(), Path::new("/etc/kubernetes")).err().unwrap();
        assert_eq!(error.code(), codes::NO_ACCESS);
        assert!(error.to_string().contains("/etc/kubernetes/pki/etcd/ca.crt"), "{error}");
    }
}
