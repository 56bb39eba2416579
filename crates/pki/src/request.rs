//! Reading certificate requests of other machines: what they ask for, proved to come from the holder of the key.

use std::collections::BTreeSet;

use spec::San;
use x509_parser::{
    certification_request::X509CertificationRequest,
    extensions::ParsedExtension,
    oid_registry::{OID_EC_P256, OID_KEY_TYPE_EC_PUBLIC_KEY, OID_NIST_EC_P384},
    prelude::FromDer,
    x509::{SubjectPublicKeyInfo, X509Name},
};

use crate::{
    canonical,
    certificate::{san, texts},
    pem,
};

const LABEL: &str = "CERTIFICATE REQUEST";

/// Several times what any request needs.
const LONGEST: usize = 16 * 1024;

/// Why a request cannot be considered at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadRequest(&'static str);

/// A certificate request whose signature was verified. It is only what a client wants; the signer decides.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a finding of its own, not a state")]
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
    /// True for ECDSA with P-256 or P-384.
    pub has_strong_key: bool,
    /// True if it is byte for byte what Go writes for what was read of it, as kubelets' requests are.
    pub is_canonical: bool,
    public_key_info: Vec<u8>,
}

impl Request {
    /// Reads a text that is one PEM request, written as everybody writes it, and nothing else; verifies that its sender holds
    /// the key.
    pub fn from_pem(pem: &[u8]) -> Result<Self, BadRequest> {
        const DAMAGED: BadRequest = BadRequest("it is damaged");
        if pem.len() > LONGEST {
            return Err(BadRequest("it is longer than any request"));
        }
        let der = pem::exactly(LABEL, pem).ok_or(BadRequest("it is not exactly one PEM certificate request"))?;
        let (rest, request) = X509CertificationRequest::from_der(&der).map_err(|_| DAMAGED)?;
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
            // Whatever else the request holds is missing in what is written again.
            is_canonical: canonical::encode(&request, &names).is_some_and(|written| written == der),
            names: names.into_iter().collect(),
            has_strong_key: is_strong(&info.subject_pki),
            public_key_info: info.subject_pki.raw.to_vec(),
            common_names,
            organizations,
        })
    }

    /// The key with its algorithm, DER, as certificates hold it.
    pub fn public_key_info(&self) -> &[u8] {
        &self.public_key_info
    }
}

fn is_strong(key: &SubjectPublicKeyInfo<'_>) -> bool {
    let curve = key.algorithm.parameters.as_ref().and_then(|parameters| parameters.as_oid().ok());
    key.algorithm.algorithm == OID_KEY_TYPE_EC_PUBLIC_KEY
        && curve.is_some_and(|curve| [OID_EC_P256, OID_NIST_EC_P384].contains(&curve))
}

#[cfg(test)]
mod tests {
    use rcgen::{
        CertificateParams, DistinguishedName, DnType, DnValue, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384,
        PKCS_ED25519, SanType, SignatureAlgorithm,
    };

    use super::*;

    fn made(algorithm: &'static SignatureAlgorithm, change: impl FnOnce(&mut CertificateParams)) -> String {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        for (kind, text) in [(DnType::OrganizationName, "system:nodes"), (DnType::CommonName, "system:node:worker-01")]
        {
            params.distinguished_name.push(kind, DnValue::PrintableString(text.try_into().unwrap()));
        }
        change(&mut params);
        params.serialize_request(&KeyPair::generate_for(algorithm).unwrap()).unwrap().pem().unwrap()
    }

    fn dns(name: &str) -> SanType {
        SanType::DnsName(name.try_into().unwrap())
    }

    #[test]
    fn what_is_asked_for_is_read() {
        let plain = Request::from_pem(made(&PKCS_ECDSA_P384_SHA384, |_| ()).as_bytes()).unwrap();
        assert_eq!(plain.common_names, ["system:node:worker-01"]);
        assert_eq!(plain.organizations, ["system:nodes"]);
        assert!(plain.has_strong_key && plain.is_canonical && !plain.has_other_attributes && !plain.has_other_names);
        assert!(plain.names.is_empty());

        let greedy = made(&PKCS_ED25519, |params| {
            params.distinguished_name.push(DnType::LocalityName, "here");
            params.subject_alt_names = vec![
                dns("localhost"),
                SanType::IpAddress([192, 0, 2, 1].into()),
                SanType::Rfc822Name("me@example.org".try_into().unwrap()),
            ];
        });
        let greedy = Request::from_pem(greedy.as_bytes()).unwrap();
        assert!(!greedy.has_strong_key && greedy.has_other_attributes && greedy.has_other_names);
        assert_eq!(
            greedy.names.into_iter().collect::<Vec<_>>(),
            [San::Dns("localhost".into()), San::Ip([192, 0, 2, 1].into())]
        );
    }

    /// The differential test has the whole range; these are the ways that people would think of.
    #[test]
    fn only_one_form_is_canonical() {
        type Change = fn(&mut CertificateParams);
        let cases: [(&str, Change, bool); 13] = [
            ("plain", |_| (), true),
            (
                "names and addresses",
                |params| params.subject_alt_names = vec![dns("worker-01"), ip("192.0.2.1"), ip("2001:db8::1")],
                true,
            ),
            ("addresses first", |params| params.subject_alt_names = vec![ip("192.0.2.1"), dns("worker-01")], false),
            ("twice the same", |params| params.subject_alt_names = vec![dns("worker-01"), dns("worker-01")], false),
            ("upper case", |params| params.subject_alt_names = vec![dns("Worker-01")], false),
            ("a wildcard", |params| params.subject_alt_names = vec![dns("*.example.org")], false),
            ("an empty label", |params| params.subject_alt_names = vec![dns("worker-01.")], false),
            ("an IPv4 address as IPv6", |params| params.subject_alt_names = vec![ip("::ffff:192.0.2.1")], false),
            (
                "a mail address",
                |params| params.subject_alt_names = vec![SanType::Rfc822Name("a@example.org".try_into().unwrap())],
                false,
            ),
            ("another extension", |params| params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign], false),
            ("a locality", |params| params.distinguished_name.push(DnType::LocalityName, "here"), false),
            (
                "the other string type",
                |params| params.distinguished_name.push(DnType::CommonName, "system:node:worker-01"),
                false,
            ),
            (
                "the common name first",
                |params| {
                    params.distinguished_name.remove(DnType::OrganizationName);
                    params
                        .distinguished_name
                        .push(DnType::OrganizationName, DnValue::PrintableString("system:nodes".try_into().unwrap()));
                },
                false,
            ),
        ];
        for (what, change, expected) in cases {
            let request = Request::from_pem(made(&PKCS_ECDSA_P256_SHA256, change).as_bytes()).unwrap();
            assert_eq!(request.is_canonical, expected, "{what}");
        }
    }

    fn ip(ip: &str) -> SanType {
        SanType::IpAddress(ip.parse().unwrap())
    }

    #[test]
    fn a_request_of_another_key_is_refused() {
        let mut der = pem::exactly(LABEL, made(&PKCS_ECDSA_P384_SHA384, |_| ()).as_bytes()).unwrap();
        let last = der.len() - 1;
        der[last] ^= 1;
        for (text, expected) in [
            (pem::write(LABEL, &der), "its signature was not made with its key"),
            (String::new(), "it is not exactly one PEM certificate request"),
            (pem::write(LABEL, &[0, 0, 0]), "it is damaged"),
            (pem::write(LABEL, &[0; LONGEST]), "it is longer than any request"),
        ] {
            assert_eq!(Request::from_pem(text.as_bytes()).unwrap_err().to_string(), expected);
        }
    }

    /// Go passes over a block whose END has another label and reads the second one; a reader that ends a block at any END
    /// line reads the first one. So one text was approved and another one signed.
    #[test]
    fn a_text_with_two_faces_is_refused() {
        let honest = made(&PKCS_ECDSA_P256_SHA256, |_| ());
        let evil =
            made(&PKCS_ECDSA_P256_SHA256, |params| params.subject_alt_names = vec![dns("kubernetes.default.svc")]);
        let two_faced = honest.replace("-----END CERTIFICATE REQUEST-----", "-----END X-----") + &evil;
        for text in [two_faced, format!("{honest}{evil}"), format!("{evil}{honest}")] {
            let refused = Request::from_pem(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(refused, "it is not exactly one PEM certificate request");
        }
    }
}
