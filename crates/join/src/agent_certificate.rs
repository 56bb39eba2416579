//! A certificate for the agent of a machine that holds the cluster's CA. It is signed in memory and never leaves it.

use std::path::Path;

use explain::{Code, Explain};
use host::{Disk, HostError};
use jiff::Timestamp;
use pki::{BadRequest, Existing, PkiErrors, Request, Signer};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};

use crate::{Purpose, codes};

/// Longer than it is used for.
const DAYS: i64 = 2;

/// What an agent shows, and whom it trusts. PEM.
pub struct AgentCertificate {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
    /// The CA that signed it.
    pub ca: String,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum NotSigned {
    /// The CA cannot be read.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The CA is of no use.
    #[error(transparent)]
    Pki(#[from] PkiErrors),
    /// No key.
    #[error("cannot make a key for the agent")]
    Key(#[from] rcgen::Error),
    /// No certificate.
    #[error("cannot sign a certificate for the agent")]
    Request(#[from] BadRequest),
}

impl Explain for NotSigned {
    fn code(&self) -> Code {
        match self {
            Self::Host(error) => error.code(),
            Self::Pki(error) => error.code(),
            Self::Key(_) | Self::Request(_) => codes::OWN_KEY,
        }
    }
}

impl AgentCertificate {
    /// Signs one with the CA in this directory of Kubernetes.
    pub fn sign(
        disk: &dyn Disk,
        kubernetes_dir: &Path,
        cluster: &str,
        node: &str,
        now: Timestamp,
    ) -> Result<Self, NotSigned> {
        let signer = Signer::new(&Existing::read(disk, kubernetes_dir)?, cluster, now)?;
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let request = Request::from_pem(CertificateParams::default().serialize_request(&key)?.pem()?.as_bytes())?;
        Ok(Self {
            certificate: signer.client_certificate(&request, &Purpose::Agent.subject(node), DAYS, now)?,
            key: key.serialize_pem(),
            ca: String::from_utf8_lossy(signer.ca_pem()).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use pki::{Input, Shared};

    use super::*;
    use crate::Caller;

    #[test]
    fn a_machine_with_the_ca_vouches_for_its_own_agent() {
        let disk = host::disk::model::ModelDisk::default();
        let (root, now) = (Path::new("/etc/kubernetes"), Timestamp::now());
        let text = "cluster: {name: demo}\nnodes: [{name: a, ip: 192.168.1.11, roles: [master]}]\n";
        let cluster = spec::check_text(text).cluster.unwrap();
        let input = Input::new(&cluster, cluster.node("a").unwrap(), Shared::Make);
        for change in pki::plan(&Existing::read(&disk, root).unwrap(), &input, now).unwrap() {
            change.apply(&disk).unwrap();
        }
        let signed = AgentCertificate::sign(&disk, root, "demo", "a", now).unwrap();
        let (_, certificate) = x509_parser::pem::parse_x509_pem(signed.certificate.as_bytes()).unwrap();
        assert_eq!(Caller::from_certificate(Some(&certificate.contents)).unwrap(), Caller::Agent("a".to_owned()));
    }
}
