//! What only the holder of one secret can open: AES-256-GCM under a key that is derived for one exchange.
//!
//! TLS protects the way already. This protects against a join service that was given the wrong certificate, and against
//! whatever else may one day end TLS before the program does: the cluster's keys are worth two locks.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};

use crate::mac;

/// The envelope could not be made, or not be opened: nothing more is to be known about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the envelope cannot be used")]
pub struct Unusable;

/// Closes it. `purpose` says what kind of envelope it is, `exchange` what this one is for; both must be the same when it is
/// opened.
pub fn close(secret: &[u8], purpose: &str, exchange: &[&[u8]], mut text: Vec<u8>) -> Result<String, Unusable> {
    let key = key(secret, purpose, exchange)?;
    let nonce = key.seal_in_place_append_tag(Aad::from(purpose), &mut text).map_err(|_| Unusable)?;
    let bytes: Vec<u8> = nonce.as_ref().iter().chain(&text).copied().collect();
    Ok(BASE64.encode(bytes))
}

/// Opens it.
pub fn open(secret: &[u8], purpose: &str, exchange: &[&[u8]], envelope: &str) -> Result<Vec<u8>, Unusable> {
    let mut bytes = BASE64.decode(envelope).map_err(|_| Unusable)?;
    if bytes.len() < NONCE_LEN {
        return Err(Unusable);
    }
    let mut text = bytes.split_off(NONCE_LEN);
    let nonce = Nonce::try_assume_unique_for_key(&bytes).map_err(|_| Unusable)?;
    let key = key(secret, purpose, exchange)?;
    let opened = key.open_in_place(nonce, Aad::from(purpose), &mut text).map_err(|_| Unusable)?;
    Ok(opened.to_vec())
}

fn key(secret: &[u8], purpose: &str, exchange: &[&[u8]]) -> Result<RandomizedNonceKey, Unusable> {
    let derived = mac::sign(secret, purpose, exchange);
    RandomizedNonceKey::new(&AES_256_GCM, derived.as_ref()).map_err(|_| Unusable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_secret_opens_it_in_the_same_exchange() {
        let closed = close(b"secret", "test", &[b"master-02", b"challenge"], b"keys".to_vec()).unwrap();
        let mut bytes = BASE64.decode(&closed).unwrap();
        assert!(!bytes.windows(4).any(|part| part == b"keys"));
        bytes[NONCE_LEN] ^= 1;
        let bent = BASE64.encode(&bytes);
        let cases = [
            ("secret", "test", ["master-02", "challenge"], closed.as_str(), true),
            ("sacred", "test", ["master-02", "challenge"], &closed, false),
            ("secret", "rest", ["master-02", "challenge"], &closed, false),
            ("secret", "test", ["master-03", "challenge"], &closed, false),
            ("secret", "test", ["master-02", "another"], &closed, false),
            ("secret", "test", ["master-02", "challenge"], &bent, false),
            ("secret", "test", ["master-02", "challenge"], "AAAA", false),
        ];
        for (secret, purpose, exchange, envelope, expected) in cases {
            let opened = open(secret.as_bytes(), purpose, &exchange.map(str::as_bytes), envelope);
            assert_eq!(opened, if expected { Ok(b"keys".to_vec()) } else { Err(Unusable) }, "{envelope}");
        }
    }
}
