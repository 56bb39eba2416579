//! Who shows a client certificate. TLS has verified that the cluster's CA signed it; what it says is read here.

use std::net::IpAddr;

use jiff::Timestamp;
use spec::{Node, ValidatedCluster};
use x509_parser::parse_x509_certificate;

use crate::{
    Refusal,
    purpose::{AGENT, AGENTS},
    seal::SERVICE,
};

/// The groups whose members may see everything.
const ADMINS: [&str; 2] = ["kubeadm:cluster-admins", "system:masters"];

const NO_IDENTITY: &str = "the client certificate is neither an agent's nor an administrator's";

/// Who is calling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// The agent of a node.
    Agent(String),
    /// A master that has not joined: it has nothing but what its sealed directory holds.
    Sealed(String),
    /// An administrator.
    Admin,
}

impl Caller {
    /// From a verified certificate, DER.
    pub fn from_certificate(certificate: Option<&[u8]>) -> Result<Self, Refusal> {
        let refused = |why: &str| Refusal::NotAllowed { why: why.to_owned() };
        let certificate = certificate.ok_or_else(|| refused("a client certificate is needed, and none was shown"))?;
        let Ok((_, certificate)) = parse_x509_certificate(certificate) else {
            return Err(refused("the client certificate cannot be read"));
        };
        let subject = certificate.subject();
        let groups: Vec<&str> = subject.iter_organization().filter_map(|group| group.as_str().ok()).collect();
        let names: Vec<&str> = subject.iter_common_name().filter_map(|name| name.as_str().ok()).collect();
        match (names.as_slice(), groups.as_slice()) {
            ([name], [AGENTS]) if name.len() > AGENT.len() && name.starts_with(AGENT) => {
                Ok(Self::Agent(name[AGENT.len()..].to_owned()))
            }
            ([name], []) => match name.strip_prefix(SERVICE).and_then(|rest| rest.strip_prefix(':')) {
                Some(node) if !node.is_empty() => Ok(Self::Sealed(node.to_owned())),
                _ => Err(refused(NO_IDENTITY)),
            },
            (_, groups) if groups.iter().any(|group| ADMINS.contains(group)) => Ok(Self::Admin),
            _ => Err(refused(NO_IDENTITY)),
        }
    }

    /// Whether it is of this cluster: an administrator, or a node of cluster.yaml at its own address.
    pub(crate) fn is_of(&self, cluster: &ValidatedCluster, peer: IpAddr) -> bool {
        match self {
            Self::Admin => true,
            Self::Agent(node) | Self::Sealed(node) => cluster.machine(node).is_some_and(|node| node.ip == peer),
        }
    }

    /// Whether it may know how the masters stand to the cluster, and which machines they are: masters, from their own
    /// addresses, and administrators.
    pub(crate) fn is_insider(&self, cluster: &ValidatedCluster, peer: IpAddr) -> bool {
        let is_master = match self {
            Self::Admin => true,
            Self::Agent(node) | Self::Sealed(node) => cluster.machine(node).is_some_and(Node::runs_control_plane),
        };
        is_master && self.is_of(cluster, peer)
    }

    /// When a verified certificate was issued; `None` for one that cannot be read.
    pub(crate) fn issued(certificate: &[u8]) -> Option<Timestamp> {
        let (_, certificate) = parse_x509_certificate(certificate).ok()?;
        Timestamp::from_second(certificate.validity().not_before.timestamp() + pki::BACKDATED).ok()
    }

    /// The agent's node, if it is still in cluster.yaml and calls from its own address.
    pub(crate) fn node(self, cluster: &ValidatedCluster, peer: IpAddr) -> Result<String, Refusal> {
        let Self::Agent(node) = self else {
            return Err(Refusal::NotAllowed { why: "only the agent of a node may do this".to_owned() });
        };
        match cluster.machine(&node) {
            None => Err(Refusal::UnknownNode { node }),
            Some(found) if found.ip != peer => Err(Refusal::WrongAddress { node, configured: found.ip, seen: peer }),
            Some(_) => Ok(node),
        }
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};

    use super::*;

    fn shown(name: &str, group: &str) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        if !group.is_empty() {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn only_agents_and_administrators_have_an_identity() {
        for (name, group, expected) in [
            ("blackstart:agent:worker-01", "blackstart:agents", Some(Caller::Agent("worker-01".into()))),
            ("blackstart:agent:", "blackstart:agents", None),
            ("blackstart:agent:worker-01", "system:nodes", None),
            ("system:node:worker-01", "system:nodes", None),
            ("system:node:worker-01", "blackstart:agents", None),
            ("blackstart:join:master-02", "", Some(Caller::Sealed("master-02".into()))),
            ("blackstart:join:", "", None),
            ("blackstart:join", "", None),
            ("blackstart:joined", "", None),
            ("blackstart:join:master-02", "system:nodes", None),
            ("system:kube-proxy", "", None),
            ("kubernetes-admin", "kubeadm:cluster-admins", Some(Caller::Admin)),
            ("anybody", "system:masters", Some(Caller::Admin)),
        ] {
            assert_eq!(Caller::from_certificate(Some(&shown(name, group))).ok(), expected, "{name} {group}");
        }
        assert!(Caller::from_certificate(None).is_err());
        assert!(Caller::from_certificate(Some(b"hello")).is_err());
    }
}
