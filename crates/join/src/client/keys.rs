//! The keys a node makes for itself, and the requests for certificates to go with them. Keys never leave the node.

use std::net::SocketAddr;

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use secrecy::SecretString;

use super::{JoinError, Joined};
use crate::{
    NodeSecret, Purpose,
    wire::{JoinAnswer, JoinCsrs, RenewAnswer, RenewCsrs},
};

/// A certificate and its key, PEM.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The certificate.
    pub cert_pem: String,
    /// The key.
    pub key_pem: SecretString,
}

/// New certificates for a node.
#[derive(Debug, Clone)]
pub struct Renewed {
    /// The cluster's CA, PEM.
    pub ca_pem: String,
    /// For the kubelet, if it was asked for.
    pub kubelet: Option<Pair>,
    /// For kube-proxy.
    pub kube_proxy: Pair,
    /// For the agent.
    pub agent: Pair,
    /// What the node proves itself with from now on, and the mark of the join key that made it.
    pub secret: Option<(NodeSecret, String)>,
}

/// For whom certificates are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those that do not look after themselves.
    Ours,
    /// The kubelet too, which keeps its own until its end: the CA is another one.
    All,
}

/// A new key and the request for its certificate.
struct Requested {
    key: KeyPair,
    csr: String,
}

impl Requested {
    fn new(purpose: Purpose, node: &str) -> Result<Self, JoinError> {
        let subject = purpose.subject(node);
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        if let Some(organization) = subject.organization {
            params.distinguished_name.push(DnType::OrganizationName, organization);
        }
        params.distinguished_name.push(DnType::CommonName, subject.common_name);
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let csr = params.serialize_request(&key)?.pem()?;
        Ok(Self { key, csr })
    }

    fn with(&self, cert_pem: String) -> Pair {
        Pair { cert_pem, key_pem: self.key.serialize_pem().into() }
    }
}

/// For a node that joins.
pub(super) struct JoinKeys {
    kubelet: Requested,
    kube_proxy: Requested,
    agent: Requested,
}

impl JoinKeys {
    pub(super) fn generate(node: &str) -> Result<Self, JoinError> {
        Ok(Self {
            kubelet: Requested::new(Purpose::Kubelet, node)?,
            kube_proxy: Requested::new(Purpose::KubeProxy, node)?,
            agent: Requested::new(Purpose::Agent, node)?,
        })
    }

    pub(super) fn csrs(&self) -> JoinCsrs {
        JoinCsrs {
            kubelet: self.kubelet.csr.clone(),
            kube_proxy: self.kube_proxy.csr.clone(),
            agent: self.agent.csr.clone(),
        }
    }

    pub(super) fn joined(&self, master: SocketAddr, answer: JoinAnswer) -> Joined {
        let JoinAnswer { ca, kubelet, kube_proxy, agent, api_servers } = answer;
        Joined {
            master,
            ca_pem: ca,
            kubelet: self.kubelet.with(kubelet),
            kube_proxy: self.kube_proxy.with(kube_proxy),
            agent: self.agent.with(agent),
            api_servers,
        }
    }
}

/// For a node that renews.
pub(super) struct RenewKeys {
    kubelet: Requested,
    kube_proxy: Requested,
    agent: Requested,
}

impl RenewKeys {
    pub(super) fn generate(node: &str) -> Result<Self, JoinError> {
        Ok(Self {
            kubelet: Requested::new(Purpose::Kubelet, node)?,
            kube_proxy: Requested::new(Purpose::KubeProxy, node)?,
            agent: Requested::new(Purpose::Agent, node)?,
        })
    }

    pub(super) fn csrs(&self, of: Whose, secret: Option<&NodeSecret>) -> RenewCsrs {
        RenewCsrs {
            kubelet: (of == Whose::All).then(|| self.kubelet.csr.clone()),
            kube_proxy: self.kube_proxy.csr.clone(),
            agent: self.agent.csr.clone(),
            secret: secret.map(NodeSecret::claimed),
        }
    }

    pub(super) fn renewed(&self, answer: RenewAnswer, secret: Option<(NodeSecret, String)>) -> Renewed {
        let RenewAnswer { ca, kubelet, kube_proxy, agent, secret: _ } = answer;
        Renewed {
            secret,
            ca_pem: ca,
            kubelet: kubelet.map(|certificate| self.kubelet.with(certificate)),
            kube_proxy: self.kube_proxy.with(kube_proxy),
            agent: self.agent.with(agent),
        }
    }
}
