//! Certificate requests in the very form in which kubelets write them, with any content.

use rcgen::{CertificateParams, DistinguishedName, DnType, DnValue, KeyPair, PKCS_ECDSA_P256_SHA256, SanType};

/// What a request says. The key is a new one each time.
#[derive(Clone)]
pub(crate) struct KubeletCsr {
    pub(crate) organization: &'static str,
    pub(crate) common_name: String,
    pub(crate) names: Vec<SanType>,
    /// Written as other programs do.
    pub(crate) utf8: bool,
}

impl KubeletCsr {
    pub(crate) fn client(node: &str) -> Self {
        Self {
            organization: "system:nodes",
            common_name: format!("system:node:{node}"),
            names: Vec::new(),
            utf8: false,
        }
    }

    pub(crate) fn serving(node: &str, dns: &[&str], ips: &[&str]) -> Self {
        let dns = dns.iter().map(|name| SanType::DnsName((*name).try_into().unwrap()));
        let ips = ips.iter().map(|ip| SanType::IpAddress(ip.parse().unwrap()));
        Self { names: dns.chain(ips).collect(), ..Self::client(node) }
    }

    pub(crate) fn pem(&self) -> String {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        for (kind, text) in
            [(DnType::OrganizationName, self.organization), (DnType::CommonName, self.common_name.as_str())]
        {
            let printable = || DnValue::PrintableString(text.try_into().unwrap());
            params.distinguished_name.push(kind, if self.utf8 { text.into() } else { printable() });
        }
        params.subject_alt_names.clone_from(&self.names);
        params.serialize_request(&KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap()).unwrap().pem().unwrap()
    }
}
