//! What Ceph's dashboard shows to a browser: a certificate that vouches for itself.
//!
//! It is good for every manager's name and address, because any of them may come to serve the dashboard. The cluster's own
//! CA is not asked: the first monitor need not be a master, and masters sign nothing but what nodes need.

use explain::{Code, Explain};
use jiff::Timestamp;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, PKCS_RSA_SHA256, RsaKeySize,
};
use time::{Duration, OffsetDateTime};

use crate::codes;

/// It is never renewed, and a browser asks for confidence in it anyway.
const LIFETIME: Duration = Duration::days(3650);
/// Clocks differ.
const BEFORE: Duration = Duration::minutes(5);

/// A certificate and its key, PEM.
pub struct Pair {
    /// What everybody sees.
    pub certificate: String,
    /// What only its owner sees.
    pub key: String,
}

/// The certificate could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot make a certificate for Ceph's dashboard")]
pub struct NoCertificate(#[from] rcgen::Error);

impl Explain for NoCertificate {
    fn code(&self) -> Code {
        codes::NO_CERTIFICATE
    }
}

/// For the dashboard of this cluster, under these names and addresses.
pub fn make(cluster: &str, mut names: Vec<String>, now: Timestamp) -> Result<Pair, NoCertificate> {
    names.sort();
    names.dedup();
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, format!("ceph-dashboard of {cluster}"));
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let now = OffsetDateTime::from_unix_timestamp(now.as_second()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    params.not_before = now - BEFORE;
    params.not_after = now + LIFETIME;
    // The dashboard fails with any other kind of key: it checks it in a way that knows only this one.
    let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_3072)?;
    let certificate = params.self_signed(&key)?;
    Ok(Pair { certificate: certificate.pem(), key: key.serialize_pem() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_in_it() {
        let names = ["m1", "192.168.1.11", "m1", "m2"].map(str::to_owned).to_vec();
        let pair = make("home", names, Timestamp::from_second(1_700_000_000).unwrap()).unwrap();
        assert!(pair.certificate.starts_with("-----BEGIN CERTIFICATE-----"), "{}", pair.certificate);
        assert!(pair.key.contains("PRIVATE KEY"));
        assert!(make("home", vec!["not a name ü".into()], Timestamp::UNIX_EPOCH).is_err());
    }
}
