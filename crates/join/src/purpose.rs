//! What a node's certificates are for, whom they are made out to, and what a request for one must look like.

use std::fmt;

use pki::{Request, Subject};

/// The group of all agents.
pub(crate) const AGENTS: &str = "blackstart:agents";
/// What an agent's user name starts with.
pub(crate) const AGENT: &str = "blackstart:agent:";
/// Renewed by the agent (by the kubelet for its own) long before.
pub(crate) const DAYS: i64 = 365;

/// What a certificate is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The kubelet towards the API.
    Kubelet,
    /// kube-proxy towards the API.
    KubeProxy,
    /// The agent towards the join service.
    Agent,
}

impl Purpose {
    /// User and group of the certificate on this node.
    pub fn subject(self, node: &str) -> Subject {
        let (common_name, organization) = match self {
            Self::Kubelet => (format!("system:node:{node}"), Some("system:nodes".to_owned())),
            Self::KubeProxy => ("system:kube-proxy".to_owned(), None),
            Self::Agent => (format!("{AGENT}{node}"), Some(AGENTS.to_owned())),
        };
        Subject { common_name, organization }
    }

    /// Reads a request for this node; says what is wrong with it.
    pub(crate) fn request(self, node: &str, pem: &str) -> Result<Request, String> {
        let request = Request::from_pem(pem.as_bytes()).map_err(|why| why.to_string())?;
        let Subject { common_name, organization } = self.subject(node);
        if request.common_names != [common_name.as_str()] {
            return Err(format!("its common name is not `{common_name}`"));
        }
        if request.organizations != organization.as_slice() {
            let expected = organization.map_or_else(|| "none".to_owned(), |group| format!("`{group}`"));
            return Err(format!("its organisation is not {expected}"));
        }
        if request.has_other_attributes {
            return Err("its subject holds more than it may".to_owned());
        }
        if !request.names.is_empty() || request.has_other_names {
            return Err("it asks for names or addresses".to_owned());
        }
        if !request.has_strong_key {
            return Err("its key is not ECDSA with P-256 or better".to_owned());
        }
        Ok(request)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kubelet => "kubelet",
            Self::KubeProxy => "kube-proxy",
            Self::Agent => "agent",
        })
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{
        CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, SanType,
        SignatureAlgorithm,
    };

    use super::*;

    fn pem(
        algorithm: &'static SignatureAlgorithm,
        name: &str,
        group: Option<&str>,
        more: fn(&mut CertificateParams),
    ) -> String {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        more(&mut params);
        params.serialize_request(&KeyPair::generate_for(algorithm).unwrap()).unwrap().pem().unwrap()
    }

    #[test]
    fn only_what_the_node_may_have() {
        let named = |name, group| pem(&PKCS_ECDSA_P256_SHA256, name, group, |_| ());
        let with = |more| pem(&PKCS_ECDSA_P256_SHA256, "system:node:w", Some("system:nodes"), more);
        let cases = [
            ("as it must be", Purpose::Kubelet, named("system:node:w", Some("system:nodes"))),
            ("as it must be", Purpose::KubeProxy, named("system:kube-proxy", None)),
            ("as it must be", Purpose::Agent, named("blackstart:agent:w", Some("blackstart:agents"))),
            ("another node", Purpose::Kubelet, named("system:node:m", Some("system:nodes"))),
            ("another group", Purpose::Kubelet, named("system:node:w", Some("system:masters"))),
            ("no group", Purpose::Kubelet, named("system:node:w", None)),
            ("a group too many", Purpose::KubeProxy, named("system:kube-proxy", Some("system:masters"))),
            ("another purpose", Purpose::Agent, named("system:kube-proxy", None)),
            ("a locality", Purpose::Kubelet, with(|params| params.distinguished_name.push(DnType::LocalityName, "x"))),
            (
                "an address",
                Purpose::Kubelet,
                with(|params| {
                    params.subject_alt_names = vec![SanType::IpAddress([192, 0, 2, 1].into())];
                }),
            ),
            (
                "a mail address",
                Purpose::Kubelet,
                with(|params| {
                    params.subject_alt_names = vec![SanType::Rfc822Name("a@example.org".try_into().unwrap())];
                }),
            ),
            ("ed25519", Purpose::Kubelet, pem(&PKCS_ED25519, "system:node:w", Some("system:nodes"), |_| ())),
            ("no PEM", Purpose::Kubelet, "hello".to_owned()),
        ];
        let report: Vec<String> = cases
            .iter()
            .map(|(what, purpose, pem)| {
                let outcome = purpose.request("w", pem).map_or_else(|why| why, |_| "fine".to_owned());
                format!("{purpose}, {what}: {outcome}")
            })
            .collect();
        insta::assert_snapshot!(report.join("\n"));
    }
}
