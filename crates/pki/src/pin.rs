//! The pin by which a joining node recognises the cluster's CA.

use crate::certificate::Certificate;

/// Why there is no pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot pin the CA: {0}")]
pub struct NoPin(&'static str);

/// `sha256:<hex>` of the public key in a certificate, as `kubeadm join --discovery-token-ca-cert-hash` takes it.
pub fn spki_pin(certificate_pem: &[u8]) -> Result<String, NoPin> {
    let certificate = Certificate::from_pem(certificate_pem).map_err(NoPin)?;
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &certificate.public_key_info);
    Ok(hash.as_ref().iter().fold("sha256:".to_owned(), |pin, byte| format!("{pin}{byte:02x}")))
}
