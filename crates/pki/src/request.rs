//! Reading certificate requests of other machines: what they ask for, proved to come from the holder of the key.

use std::collections::BTreeSet;

use spec::San;
use x509_parser::{
    certification_request::X509CertificationRequest,
    extensions::ParsedExtension,
    oid_registry::{OID_EC_P256, OID_KEY_TYPE_EC_PUBLIC_KEY, OID_NIST_EC_P384, OID_NIST_EC_P521},
    prelude::FromDer,
    x509::{SubjectPublicKeyInfo, X509Name},
};

use crate::certificate::{first_block, san, texts};

/// Why a request cannot be considered at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadRequest(&'static str);

/// A certificate request whose signature was verified. It is only what somebody wants; who signs decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Common names, in their order; an honest request has one.
    pub common_names: Vec<String>,
    /// Organisations, which Kubernetes reads as groups.
    pub organizations: Vec<String>,
    /// True if the subject has anything beside common names and organisations.
    pub has_other_attributes: bool,
    /// The names and addresses it asks for.
    pub names: BTreeSet<San>,
    /// True if it asks for something beside names and addresses, such as a mail address or a URI.
    pub has_other_names: bool,
    /// True for ECDSA with P-256 or a larger curve of the same family.
    pub has_strong_key: bool,
    pub(crate) public_key_info: Vec<u8>,
}

impl Request {
    /// Reads the one request in a PEM text and verifies that its sender holds the key.
    pub fn from_pem(pem: &str) -> Result<Self, BadRequest> {
        const DAMAGED: BadRequest = BadRequest("it is damaged");
        let block = first_block(pem.as_bytes(), |label| label == "CERTIFICATE REQUEST")
            .ok_or(BadRequest("it holds no PEM certificate request"))?;
        let (rest, request) = X509CertificationRequest::from_der(&block.contents).map_err(|_| DAMAGED)?;
        if !rest.is_empty() {
            return Err(DAMAGED);
        }
        request.verify_signature().map_err(|_| BadRequest("its signature was not made with its key"))?;
        let info = &request.certification_request_info;
        let common_names = texts(&info.subject, X509Name::iter_common_name);
        let organizations = texts(&info.subject, X509Name::iter_organization);
        let wanted: Vec<_> = request
            .requested_extensions()
            .into_iter()
            .flatten()
            .filter_map(|extension| match extension {
                ParsedExtension::SubjectAlternativeName(names) => Some(&names.general_names),
                _ => None,
            })
            .flatten()
            .collect();
        let names: Vec<San> = wanted.iter().filter_map(|name| san(name)).collect();
        Ok(Self {
            // A text that cannot be read is missing on the left and counted on the right.
            has_other_attributes: common_names.len() + organizations.len() != info.subject.iter_attributes().count(),
            has_other_names: names.len() != wanted.len(),
            names: names.into_iter().collect(),
            has_strong_key: is_strong(&info.subject_pki),
            public_key_info: info.subject_pki.raw.to_vec(),
            common_names,
            organizations,
        })
    }
}

fn is_strong(key: &SubjectPublicKeyInfo<'_>) -> bool {
    let curve = key.algorithm.parameters.as_ref().and_then(|parameters| parameters.as_oid().ok());
    key.algorithm.algorithm == OID_KEY_TYPE_EC_PUBLIC_KEY
        && curve.is_some_and(|curve| [OID_EC_P256, OID_NIST_EC_P384, OID_NIST_EC_P521].contains(&curve))
}

#[cfg(test)]
mod tests {
    use rcgen::{
        CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, SanType,
        SignatureAlgorithm,
    };

    use super::*;

    fn made(algorithm: &'static SignatureAlgorithm, change: impl FnOnce(&mut CertificateParams)) -> String {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "system:node:worker-01");
        params.distinguished_name.push(DnType::OrganizationName, "system:nodes");
        change(&mut params);
        params.serialize_request(&KeyPair::generate_for(algorithm).unwrap()).unwrap().pem().unwrap()
    }

    #[test]
    fn what_is_asked_for_is_read() {
        let plain = Request::from_pem(&made(&PKCS_ECDSA_P384_SHA384, |_| ())).unwrap();
        assert_eq!(plain.common_names, ["system:node:worker-01"]);
        assert_eq!(plain.organizations, ["system:nodes"]);
        assert!(plain.has_strong_key && !plain.has_other_attributes && !plain.has_other_names);
        assert!(plain.names.is_empty());

        let greedy = Request::from_pem(&made(&PKCS_ED25519, |params| {
            params.distinguished_name.push(DnType::LocalityName, "here");
            params.subject_alt_names = vec![
                SanType::DnsName("localhost".try_into().unwrap()),
                SanType::IpAddress([192, 0, 2, 1].into()),
                SanType::Rfc822Name("me@example.org".try_into().unwrap()),
            ];
        }))
        .unwrap();
        assert!(!greedy.has_strong_key && greedy.has_other_attributes && greedy.has_other_names);
        assert_eq!(
            greedy.names.into_iter().collect::<Vec<_>>(),
            [San::Dns("localhost".into()), San::Ip([192, 0, 2, 1].into())]
        );
    }

    #[test]
    fn a_request_of_somebody_elses_key_is_refused() {
        let pem = made(&PKCS_ECDSA_P384_SHA384, |_| ());
        let mut der = first_block(pem.as_bytes(), |_| true).unwrap().contents;
        let last = der.len() - 1;
        der[last] ^= 1;
        let body = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &der);
        let forged = format!("-----BEGIN CERTIFICATE REQUEST-----\n{body}\n-----END CERTIFICATE REQUEST-----\n");
        for (text, expected) in [
            (forged.as_str(), "its signature was not made with its key"),
            ("", "it holds no PEM certificate request"),
            ("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n", "it is damaged"),
        ] {
            assert_eq!(Request::from_pem(text).unwrap_err().to_string(), expected);
        }
    }
}
