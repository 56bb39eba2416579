//! Private keys: made as ECDSA P-256, read in whatever form an operator brings them (kubeadm's own are RSA).

use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use x509_parser::{prelude::FromDer, x509::SubjectPublicKeyInfo};

use crate::{
    certificate::{Certificate, first_block},
    pem,
};

/// A new key.
pub(crate) fn generate() -> Result<KeyPair, rcgen::Error> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)
}

/// The private key in a PEM file.
pub(crate) fn from_pem(bytes: &[u8]) -> Result<KeyPair, &'static str> {
    let block = first_block(bytes, |label| label.ends_with("PRIVATE KEY"))?.ok_or("it holds no PEM private key")?;
    if block.label.starts_with("ENCRYPTED") {
        return Err("its private key is encrypted");
    }
    KeyPair::try_from(block.contents).map_err(|_| "its private key is damaged or of an unknown kind")
}

/// The public key in a PEM file, without its algorithm.
pub(crate) fn public_from_pem(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
    let block = first_block(bytes, |label| label == "PUBLIC KEY")?.ok_or("it holds no PEM public key")?;
    let (_, info) = SubjectPublicKeyInfo::from_der(&block.contents).map_err(|_| "its public key is damaged")?;
    Ok(info.subject_public_key.data.to_vec())
}

/// Every public key in a PEM file: several while the key beside it is replaced.
pub(crate) fn publics_from_pem(bytes: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    let blocks = pem::texts(&String::from_utf8_lossy(bytes), pem::PUBLIC_KEY);
    if blocks.is_empty() {
        return public_from_pem(bytes).map(|only| vec![only]);
    }
    blocks.iter().map(|block| public_from_pem(block.as_bytes())).collect()
}

/// True if the key is that of the certificate.
pub(crate) fn belongs_to(key: &KeyPair, certificate: &Certificate) -> bool {
    key.public_key_raw() == certificate.public_key
}
