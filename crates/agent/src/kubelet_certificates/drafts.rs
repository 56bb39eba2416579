//! Requests as kubelets make them, for tests. Cases change what they are about.

use std::collections::BTreeSet;

use k8s_openapi::{
    ByteString,
    api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestSpec},
};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, DnValue, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, SanType,
};
use serde_json::json;

use super::known::{Known, Token};

/// A request as a kubelet makes it.
pub(super) struct Draft {
    pub(super) signer: &'static str,
    pub(super) common_name: String,
    pub(super) organization: &'static str,
    pub(super) dns: Vec<&'static str>,
    pub(super) ips: Vec<&'static str>,
    pub(super) uri: bool,
    pub(super) weak: bool,
    pub(super) usages: Vec<&'static str>,
    pub(super) username: String,
    pub(super) groups: Vec<&'static str>,
    /// What is sent instead.
    pub(super) pem: Option<Vec<u8>>,
    /// Texts as other programs write them.
    pub(super) utf8: bool,
    pub(super) expiration_seconds: Option<i32>,
    pub(super) known: Known,
}

pub(super) fn client(node: &str) -> Draft {
    Draft {
        signer: "kubernetes.io/kube-apiserver-client-kubelet",
        common_name: format!("system:node:{node}"),
        organization: "system:nodes",
        dns: vec![],
        ips: vec![],
        uri: false,
        weak: false,
        usages: vec!["digital signature", "client auth"],
        username: format!("system:node:{node}"),
        groups: vec!["system:nodes", "system:authenticated"],
        pem: None,
        utf8: false,
        expiration_seconds: None,
        known: Known::default(),
    }
}

pub(super) fn first(node: &str) -> Draft {
    Draft {
        username: "system:bootstrap:abcdef".into(),
        groups: vec!["system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token", "system:authenticated"],
        known: Known { token: Some(Token { node: None }), ..Known::default() },
        ..client(node)
    }
}

pub(super) fn serving(node: &str, dns: &[&'static str], ips: &[&'static str]) -> Draft {
    Draft {
        signer: "kubernetes.io/kubelet-serving",
        dns: dns.to_vec(),
        ips: ips.to_vec(),
        usages: vec!["digital signature", "server auth"],
        ..client(node)
    }
}

pub(super) fn with_node(addresses: &[(&str, &str)], draft: Draft) -> Draft {
    let addresses: Vec<_> =
        addresses.iter().map(|(kind, address)| json!({ "type": kind, "address": address })).collect();
    let node = json!({ "metadata": { "name": "any" }, "status": { "addresses": addresses } });
    Draft { known: Known { node: serde_json::from_value(node).unwrap(), ..draft.known }, ..draft }
}

pub(super) fn bound_to(node: &str, draft: Draft) -> Draft {
    Draft { known: Known { token: Some(Token { node: Some(node.to_owned()) }), ..draft.known }, ..draft }
}

impl Draft {
    pub(super) fn csr(&self) -> CertificateSigningRequest {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        for (kind, text) in
            [(DnType::OrganizationName, self.organization), (DnType::CommonName, self.common_name.as_str())]
        {
            let printable = || DnValue::PrintableString(text.try_into().unwrap());
            params.distinguished_name.push(kind, if self.utf8 { text.into() } else { printable() });
        }
        let dns = self.dns.iter().map(|name| SanType::DnsName((*name).try_into().unwrap()));
        let ips = self.ips.iter().map(|ip| SanType::IpAddress(ip.parse().unwrap()));
        let uri = self.uri.then(|| SanType::URI("spiffe://x".try_into().unwrap()));
        params.subject_alt_names = dns.chain(ips).chain(uri).collect();
        let algorithm = if self.weak { &PKCS_ED25519 } else { &PKCS_ECDSA_P256_SHA256 };
        let pem = params.serialize_request(&KeyPair::generate_for(algorithm).unwrap()).unwrap().pem().unwrap();
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        CertificateSigningRequest {
            spec: CertificateSigningRequestSpec {
                signer_name: self.signer.to_owned(),
                request: ByteString(self.pem.clone().unwrap_or(pem.into_bytes())),
                usages: Some(owned(&self.usages)),
                username: Some(self.username.clone()),
                groups: Some(owned(&self.groups)),
                expiration_seconds: self.expiration_seconds,
                ..CertificateSigningRequestSpec::default()
            },
            ..CertificateSigningRequest::default()
        }
    }
}

pub(super) fn addresses_of_others(ips: &[&str], draft: Draft) -> Draft {
    let of_others: BTreeSet<_> = ips.iter().map(|ip| ip.parse().unwrap()).collect();
    Draft { known: Known { of_others, ..draft.known }, ..draft }
}
