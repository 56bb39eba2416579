//! Who shows a client certificate. TLS has verified that the cluster's authority signed it; what it says is read here.

use std::net::IpAddr;

use spec::ValidatedCluster;
use x509_parser::parse_x509_certificate;

use crate::{
    Refusal,
    purpose::{AGENT, AGENTS},
};

/// The groups whose members may see everything.
const ADMINS: [&str; 2] = ["kubeadm:cluster-admins", "system:masters"];

/// Who is calling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// The agent of a node.
    Agent(String),
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
            (_, groups) if groups.iter().any(|group| ADMINS.contains(group)) => Ok(Self::Admin),
            _ => Err(refused("the client certificate is neither an agent's nor an administrator's")),
        }
    }

    /// The agent's node, if it is still in cluster.yaml and calls from its own address.
    pub(crate) fn node(self, cluster: &ValidatedCluster, peer: IpAddr) -> Result<String, Refusal> {
        let Self::Agent(node) = self else {
            return Err(Refusal::NotAllowed { why: "only the agent of a node may do this".to_owned() });
        };
        match cluster.node(&node) {
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
        params.distinguished_name.push(DnType::OrganizationName, group);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn only_agents_and_administrators_are_somebody() {
        for (name, group, expected) in [
            ("blackstart:agent:worker-01", "blackstart:agents", Some(Caller::Agent("worker-01".into()))),
            ("blackstart:agent:", "blackstart:agents", None),
            ("blackstart:agent:worker-01", "system:nodes", None),
            ("system:node:worker-01", "system:nodes", None),
            ("system:node:worker-01", "blackstart:agents", None),
            ("kubernetes-admin", "kubeadm:cluster-admins", Some(Caller::Admin)),
            ("anybody", "system:masters", Some(Caller::Admin)),
        ] {
            assert_eq!(Caller::from_certificate(Some(&shown(name, group))).ok(), expected, "{name} {group}");
        }
        assert!(Caller::from_certificate(None).is_err());
        assert!(Caller::from_certificate(Some(b"hello")).is_err());
    }
}
